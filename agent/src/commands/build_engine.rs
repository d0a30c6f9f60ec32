use crate::exit::{Exit, Failure, OrExit};

/// The child that builds engines: what it is asked for stands on standard input, how it went on standard output.
///
/// # Errors
/// [`Exit::Internal`] if it is not talked to as it should be.
pub fn run() -> Result<Exit, Failure> {
    drivers::encoders::tensorrt::work(&mut std::io::stdin(), &mut std::io::stdout()).or_exit(Exit::Internal)?;
    Ok(Exit::Ok)
}
