"""Times in words, as people tell them and as recall says them, so that "Tomorrow at 09:00" answers "Thursday at nine"."""
import datetime, re

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen",
           "sixteen", "seventeen", "eighteen", "nineteen", "twenty", *(f"twenty-{unit}" for unit in "one two three four five six seven eight nine".split())]
ORDINALS = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth",
            "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second",
            "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth",
            "thirty-first"]
RELATIVE = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
# Words that say nothing by themselves.
FILLERS = {"at", "on", "by", "until", "till", "from", "the", "of", "o'clock", "around", "about", "next", "this", "morning", "afternoon",
           "evening", "night", "in"}


def told(words, day):
    """(a test of the day or None, a test of the minutes of the clock or None) of a time that was told on `day`. None if the words are no time, or say
    more than one."""
    rest = re.findall(r"[\w':-]+", words.lower())
    days, clocks, month = [], [], None
    number = lambda word: int(word) if word.isdigit() else NUMBERS.index(word) if word in NUMBERS else None
    while rest:
        word = rest.pop(0)
        if word in WEEKDAYS:
            days.append(lambda date, wanted=WEEKDAYS.index(word): date.weekday() == wanted and abs((date - day).days) <= 14)
        elif word in RELATIVE:
            days.append(lambda date, shift=RELATIVE[word]: (date - day).days == shift)
        elif word in ORDINALS[1:] or re.fullmatch(r"\d{1,2}(st|nd|rd|th)", word):
            wanted = ORDINALS.index(word) if word in ORDINALS else int(word[:-2])
            days.append(lambda date, wanted=wanted: date.day == wanted)
        elif word in MONTHS:
            month = MONTHS.index(word) + 1
            days.append(lambda date, wanted=month: date.month == wanted)
        elif word in ("noon", "midday", "midnight"):
            clocks.append(0)
        elif re.fullmatch(r"\d{1,2}:\d\d", word):
            clocks.append(sum(int(part) * factor for part, factor in zip(word.split(":"), (60, 1))))
        elif word in ("half", "quarter") or number(word) is not None:
            minutes = 30 if word == "half" else 15 if word == "quarter" else number(word)
            if rest[:1] in (["past"], ["to"]) and len(rest) > 1 and (hour := number(rest[1])) is not None:
                clocks.append(hour * 60 + (minutes if rest[0] == "past" else -minutes))
                del rest[:2]
            elif rest[:1] and rest[0] in MONTHS and word.isdigit():
                days.append(lambda date, wanted=minutes: date.day == wanted)
            elif number(word) is not None and 1 <= minutes <= 24:
                more = number(rest[0]) if rest and number(rest[0]) in (15, 30, 45) else None
                clocks.append(minutes * 60 + (more or 0))
                del rest[: 1 if more else 0]
            else:
                return None
        elif word not in FILLERS:
            return None
    if len(clocks) > 1 or not days and not clocks:
        return None
    # A clock time that was told may be one of the morning or one of the evening.
    return (lambda date: all(test(date) for test in days)) if days else None, (lambda minutes: (minutes - clocks[0]) % 720 == 0) if clocks else None


def said(answer, now):
    """(the day or None, the minutes of the clock or None) of the first time that an answer of recall begins with; `now` is when it was asked."""
    lower = answer.lower()
    clock = re.match(r".*?\b(\d\d):(\d\d)", lower)
    minutes = int(clock[1]) * 60 + int(clock[2]) if clock else None
    begin = lower[:40]
    if found := re.match(r"(today|tonight|yesterday|tomorrow)\b", begin):
        return now + datetime.timedelta(RELATIVE[found[1]]), minutes
    if found := re.match(r"on (?:\w+ )??(\d{1,2}) (\w+)(?: (\d{4}))?", begin):
        if found[2] in MONTHS:
            return datetime.date(int(found[3] or now.year), MONTHS.index(found[2]) + 1, int(found[1])), minutes
    if re.match(r"at \d\d:\d\d", begin):
        return now, minutes
    return None, None


def is_same(words, day, answer, now):
    """Whether an answer says the time that was told in `words` on `day`.

    >>> tuesday, now = datetime.date(2026, 5, 12), datetime.date(2026, 5, 13)
    >>> is_same("Thursday at nine", tuesday, "Tomorrow at 09:00", now), is_same("Thursday at nine", tuesday, "Tomorrow at 10:00", now)
    (True, False)
    >>> is_same("the thirty-first", tuesday, "On 31 May 2026", now), is_same("the fifth of May", tuesday, "On 7 May 2026", now)
    (True, False)
    >>> is_same("quarter to six", tuesday, "Today at 17:45", now), is_same("in two weeks", tuesday, "On 26 May 2026", now)
    (True, False)
    >>> is_same("after six", tuesday, "Today at 18:00", now)
    False
    """
    wanted, (date, minutes) = told(words, day), said(answer, now)
    if wanted is None or date is None:
        return False
    of_day, of_clock = wanted
    return (of_day is None or of_day(date)) and (of_clock is None or minutes is not None and of_clock(minutes))
