"""Invented sessions of what a robot saw and heard, with questions, as folders that the scorer of av reads.

NAME.txt holds lines of what was reported, and questions:

    C 0.0-6.5 caption | An empty room.            seconds of the session, kind, words
    S 10.0-12.3 | The pencils are used up.        speech
    Q visual | Who came in? | 6.5-19 | a woman | a man | a dog | nobody     category, question, seconds that prove it, the right option, others
    U When did it rain? | at noon | …             nothing reported answers it; options
"""
import hashlib, json, random, re
from pathlib import Path

REPORTED = re.compile(r"C ([\d.]+)-([\d.]+) (\w+) \| (.+)")
SPOKEN = re.compile(r"S ([\d.]+)-([\d.]+) \| (.+)")


def question(number, category, parts):
    if category == "unanswerable":
        return {"question": parts[0], "answer": None, "windows": [], "options": parts[1:], "correct": None, "answerable": False}
    asked, windows, *options = parts
    right = options[0]
    random.Random(hashlib.sha256(f"{category} {number} {asked}".encode()).digest()).shuffle(options)
    return {"question": asked, "answer": right, "windows": [[float(end) for end in window.split("-")] for window in windows.split(",")],
            "options": options, "correct": options.index(right), "answerable": True}


def write(path, into):
    """Writes the session of a file as captions.jsonl, session.vtt and questions.json below `into`; returns its folder."""
    name, folder = path.stem, Path(into) / path.stem
    captions, cues, questions, counts = [], [], [], {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if found := REPORTED.fullmatch(line):
            captions.append({"id": f"{name}-cap-{len(captions) + 1:03}", "t": float(found[1]), "t_end": float(found[2]), "kind": found[3], "text": found[4]})
        elif found := SPOKEN.fullmatch(line):
            cues.append((float(found[1]), float(found[2]), found[3]))
        elif line[:2] in ("Q ", "U "):
            parts = [part.strip() for part in line[2:].split("|")]
            category = parts.pop(0) if line[0] == "Q" else "unanswerable"
            counts[category] = counts.get(category, 0) + 1
            own = {"id": f"{name}-{category}-{counts[category]:02}", "category": category, "segments": [], "needs": []}
            questions.append(own | question(counts[category], category, parts))
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f"{path}:{number}: neither a line nor a question: {line}")
    clock = lambda seconds: f"{int(seconds // 3600):02}:{int(seconds // 60) % 60:02}:{seconds % 60:06.3f}"
    folder.mkdir()
    (folder / "captions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in captions), "utf-8")
    vtt = "".join(f"{at}\n{clock(start)} --> {clock(end)}\n{said}\n\n" for at, (start, end, said) in enumerate(cues, 1))
    (folder / "session.vtt").write_text(f"WEBVTT\n\n{vtt}", "utf-8")
    (folder / "questions.json").write_text(json.dumps({"session": name, "video": "session.mp4", "questions": questions}, indent=1), "utf-8")
    return folder
