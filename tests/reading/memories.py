"""Memories of people and robots that were invented to teach and to test the reader, with questions.

The reader learns from most of them. On some (`held_out`) recall's probabilities are fitted. Some (`never_fitted`) only measure.

    1 2026-03-04 07:40 Rosalind: The kettle's on the blink again.       what somebody said
    2 2026-03-04 07:55 | A man in a green cap carries two crates.       what the robot saw, heard, did or measured
    3 2026-03-04 07:55:20 |object crate: two, wooden; man: green cap    another kind than a caption: object, sound, or speech of an unknown speaker
    Q 2 | what was the fellow in green carrying | two crates             the lines that answer, the question, the answer in the words of the first line
    Q 1 | is the kettle working? | =no                                   an answer that is not in the words: =yes, =no, =time, =who, or other words
    Q - | what colour is the kettle? |                                   nothing answers it
"""
import collections, datetime, hashlib, random, re
from pathlib import Path

import times

FOLDER = Path(__file__).resolve().parent
LINE = re.compile(r"(\d+) (\d{4}-\d\d-\d\d) (\d\d:\d\d)(:\d\d)? (?:([^:|]{1,40}): |\|(object|sound|speech)? )(.+)$")
QUESTION = re.compile(r"Q ([\d,]+|-) \| ([^|]+) \| ?([^|]*)$")
# A line before is read together with the next one if it is at most as old, in seconds. As BEFORE_WINDOW in recall/extraction.rs.
BEFORE_SECONDS = 600
FORMS = ["words", "yes", "no", "time", "speaker", "implied"]
# Of the answerable questions of another memory, each fifth is asked of a memory that cannot answer them. Their form.
STRANGE, STRANGE_FORM = 5, "strange"

Line = collections.namedtuple("Line", "at speaker words kind")
Question = collections.namedtuple("Question", "text lines answer form")


class Memory:
    def __init__(self, path):
        self.name, self.lines, self.questions = path.parent.name + path.stem, [], []
        for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
            if not text.strip() or text.startswith("#"):
                continue
            if found := LINE.match(text):
                if int(found[1]) != len(self.lines) + 1:
                    raise ValueError(f"{path}:{number}: line {found[1]} follows line {len(self.lines)}")
                kind = "text" if found[5] or found[6] == "speech" else found[6] or "caption"
                self.lines.append(Line(f"{found[2]}T{found[3]}{found[4] or ':00'}Z", found[5], found[7], kind))
            elif found := QUESTION.match(text):
                lines = [] if found[1] == "-" else [int(line) - 1 for line in found[1].split(",")]
                answer = found[3].strip()
                if any(line >= len(self.lines) for line in lines) or bool(lines) != bool(answer):
                    raise ValueError(f"{path}:{number}: no such line, or no answer")
                if lines and not answer.startswith("=") and answer not in self.lines[lines[0]].words:
                    raise ValueError(f"{path}:{number}: {answer!r} is not in line {lines[0] + 1}")
                self.questions.append(Question(found[2].strip(), lines, answer.lstrip("="), form(answer) if lines else None))
            else:
                raise ValueError(f"{path}:{number}: neither a line nor a question: {text}")

    def text(self, line):
        """A line as the reader reads it."""
        _, speaker, words, _ = self.lines[line]
        return f"{speaker}: {words}" if speaker else words

    def before(self, line):
        """What was said or seen right before."""
        if not line:
            return ""
        then, now = (datetime.datetime.fromisoformat(self.lines[i].at.replace("Z", "+00:00")) for i in (line - 1, line))
        return self.text(line - 1) if (now - then).total_seconds() <= BEFORE_SECONDS else ""

    def observations(self):
        for number, (at, speaker, words, kind) in enumerate(self.lines):
            told = {"id": f"{self.name}-{number}", "at": at, "kind": kind, "text": words}
            yield told | ({"entity": speaker} if speaker else {})

    def now(self):
        """When the questions are asked: right after the last line."""
        return self.lines[-1].at[:17] + "59Z"


def form(answer):
    if not answer.startswith("="):
        return "words"
    return {"yes": "yes", "no": "no", "time": "time", "who": "speaker"}.get(answer[1:].strip().lower(), "implied")


def held_out(name):
    """Whether the reader never learned from a memory, so that recall is fitted on it: one of fourteen."""
    return name.endswith("07") and not never_fitted(name)


def never_fitted(name):
    """Whether nothing at all was fitted on a memory. Its questions only measure."""
    return name.startswith("z")


def changing(name):
    """Whether a memory is one of several days, in which most of what is asked changes: where things are, who has them, what is planned."""
    return "bj" <= name[:2] <= "bz"


def memories(wanted=lambda name: True):
    found = (Memory(path) for path in sorted(FOLDER.glob("*/*.txt")) if wanted(path.parent.name + path.stem))
    return list(found)


def strange(some):
    """Memories, each with questions about what it was never told: of the memory after it. Who writes a memory's unanswerable questions has
    it in view, so they speak of what it knows. People also ask about what it never heard of."""
    for memory, other in zip(some, some[1:] + some[:1]):
        yield memory, [Question(question.text, [], "", STRANGE_FORM) for question in other.questions if question.lines][::STRANGE]


def with_options(memory):
    """Some questions of a memory with four options each, and the place of the right one, or None: the other options answer other questions of
    the same form. Every second question that is answered in the words of a line, and every second one that nothing answers."""
    others = [question for question in memory.questions if question.form == "words"]
    wanted = others[::2] + [question for question in memory.questions if not question.lines][::2]
    for question in wanted:
        chance = random.Random(hashlib.sha256(f"{memory.name} {question.text}".encode()).digest())
        wrong = list(dict.fromkeys(other.answer for other in others if not set(other.lines) & set(question.lines) and words(other.answer) != words(question.answer)))
        # Those that are about as long, so that length tells nothing.
        length = len(question.answer) or len(chance.choice(wrong))
        wrong = sorted(chance.sample(wrong, min(len(wrong), 12)), key=lambda answer: abs(len(answer) - length))
        options = [question.answer, *wrong[:3]] if question.lines else wrong[:4]
        chance.shuffle(options)
        yield question, options, options.index(question.answer) if question.lines else None


def words(text):
    return " ".join(word for word in re.findall(r"[\w']+", text.lower()) if word not in ("the", "a", "an"))


def is_right(memory, question, said):
    """Whether an answer holds what answers the question; that nothing does, if nothing does. A time is right by its clock, or its day, in
    whichever words."""
    if not question.lines:
        return said is None
    if said is None:
        return False
    first = memory.lines[question.lines[0]]
    if question.form in ("yes", "no"):
        return said.lower().startswith(question.form)
    day, now = datetime.date.fromisoformat(first.at[:10]), datetime.date.fromisoformat(memory.now()[:10])
    if question.form == "time":
        of_day, clock = times.said(said, now)
        # Over days, the day alone is an answer.
        over_days = memory.lines[0].at[:10] != memory.lines[-1].at[:10]
        return first.at[11:16] in said or words(first.words) in words(said) or over_days and clock is None and of_day == day
    if question.form == "speaker":
        return words(first.speaker or "") in words(said)
    return f" {words(question.answer)} " in f" {words(said)} " or times.is_same(question.answer, day, said, now)
