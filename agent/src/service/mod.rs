//! The memory behind bounded queues: a writer thread with group commit, a recall pool, and the jobs that follow a commit.
