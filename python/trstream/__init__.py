"""Reads the event streams of trutils as columns of numpy arrays.

    import trstream

    for batch in trstream.calls("a.trs", columns="name,self"):
        print(batch["name"][:3], batch["self"].sum())

    frame = trstream.events("a.trs", types="sched_switch", columns="time,cpu,next_comm").to_pandas()

trstream-python(3) describes all.
"""
import os
import warnings

import numpy as np

from . import _trstream
from ._trstream import Error

__all__ = ["Batch", "DamageError", "DamageWarning", "Error", "Table", "Totals", "calls", "events", "samples"]
__version__ = _trstream.version

NONE, INT, UINT, REAL, TEXT = range(5)  # enum trstream_form
STR = 5  # values are texts themselves, not their numbers
TYPES = {(INT, 4): np.int32, (INT, 8): np.int64, (UINT, 8): np.uint64, (UINT, 1): np.bool_,
         (REAL, 8): np.float64, (TEXT, 4): np.uint32}
ERRORS_KEPT = 100  # a damaged stream may have any number

TABLES = ["events", "calls", "samples"]
COLUMNS = ["time,kind,type,name,cpu,pid,tid,comm",
           "time,dur,self,name,caller,depth,cpu,pid,tid,comm,recursive,unfinished",
           "time,weight,type,name,stack,cpu,pid,tid,comm"]


class DamageError(Error):
    """The stream is damaged, and all that is readable was read; errors has the first of its errors."""


class DamageWarning(UserWarning):
    """The same, with damage="warn"."""


class Totals:
    """What the ends of the streams contain: events, gaps, lost, lost_more, and the worst status."""

    def __init__(self, events, gaps, lost, lost_more, status):
        self.events, self.gaps, self.lost, self.lost_more, self.status = events, gaps, lost, lost_more, status

    def __repr__(self):
        return "Totals(%s)" % ", ".join("%s=%r" % item for item in vars(self).items())


class Batch:
    """Rows of a table: batch["self"] is a column. len(batch) is the number of rows."""

    def __init__(self, table, rows, columns):
        self._table, self._rows, self._columns = table, rows, columns  # columns: name: (form, values, missing)

    @property
    def columns(self):
        """The names of the columns."""
        return list(self._columns)

    def __len__(self):
        return self._rows

    def __contains__(self, name):
        return name in self._columns

    def __repr__(self):
        return "<%d %s: %s>" % (self._rows, self._table.name, ", ".join(self._columns))

    def codes(self, name):
        """The numbers of a column, of texts those that table.texts takes. Read-only, in the memory of the library."""
        return self._columns[name][1]

    def missing(self, name):
        """An array that is true for the rows without a value; None: all have one."""
        return self._columns[name][2]

    def __getitem__(self, name):
        form, values, missing = self._columns[name]
        if form in (TEXT, STR):
            texts = self._table.texts(values) if form == TEXT else values.copy()
            if missing is not None:
                texts[missing] = None
            return texts
        return values if missing is None else np.ma.MaskedArray(values, missing)

    def to_pandas(self):
        """A pandas.DataFrame: texts are categories, stacks texts "a;b;c", and missing values NA."""
        import pandas

        return pandas.DataFrame({name: self._series(pandas, name) for name in self._columns}, index=range(self._rows))

    def _series(self, pandas, name):
        form, values, missing = self._columns[name]
        if form == STR:
            return pandas.Categorical(self[name])
        if form == TEXT or self._table.is_stack(name):
            texts = self._table.texts if form == TEXT else self._table.folded
            return self._categories(pandas, values, missing, texts)
        if missing is None:
            return values
        if form == REAL:
            return np.where(missing, np.nan, values)
        integers = pandas.arrays.IntegerArray
        return integers(values.astype(values.dtype), missing.astype(bool))  # copies, which can be written to

    @staticmethod
    def _categories(pandas, values, missing, texts):
        used = np.unique(values if missing is None else values[~missing])
        categories = {}  # different bytes that are no UTF-8 may give one text
        place = [categories.setdefault(text, len(categories)) for text in texts(used)]
        codes = np.full(int(used[-1]) + 1 if len(used) else 1, -1, np.int32)
        codes[used] = place
        codes = codes[values]
        if missing is not None:
            codes[missing] = -1
        return pandas.Categorical.from_codes(codes, categories=list(categories))


class Table:
    """A table of a stream: an iterator of batches, and a context manager."""

    def __init__(self, kind, source, columns, types, since, until, damage):
        if damage not in ("raise", "warn"):
            raise ValueError('damage is "raise" or "warn", not %r' % (damage,))
        self.name = TABLES[kind]
        self.columns = _names(COLUMNS[kind] if columns is None else columns)
        self.errors, self._more_errors = [], 0
        self._warns, self._ended = damage == "warn", False
        self._known = np.zeros(0, np.bool_)  # by number: whether _texts has it
        self._texts = np.zeros(0, object)
        query = kind, self.columns, _names(types or []), _time("since", since), _time("until", until)
        self._reader = _trstream.Reader(*_source(source), *query)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Close the stream. Batches are still valid, but for texts that were not looked up."""
        self._reader.close()

    @property
    def totals(self):
        """What the ends of the streams that were read contain; complete after the last batch."""
        return Totals(*self._reader.totals())

    def __iter__(self):
        return self

    def __next__(self):
        while not self._ended:
            try:
                got = self._reader.next()
            except Error as error:
                self._failed(error)
                continue
            if got is not None:
                rows, columns = got
                return Batch(self, rows, {name: _column(rows, *column)
                                          for name, column in zip(self.columns, columns)})
            self._ended = True
            if self.errors and not self._warns:
                self._raise()
        raise StopIteration

    def _failed(self, error):
        if error.status > 1:
            self._ended = True
            raise error
        if self._warns:
            warnings.warn(str(error), DamageWarning, stacklevel=3)
        if len(self.errors) < ERRORS_KEPT:
            self.errors.append(error)
        else:
            self._more_errors += 1

    def _raise(self):
        first, more = self.errors[0], len(self.errors) - 1 + self._more_errors
        error = DamageError(str(first) + (" (and %d more)" % more if more else ""))
        error.file, error.offset, error.status, error.errors = first.file, first.offset, first.status, self.errors
        raise error

    def read(self):
        """Read the rest of the table as one batch."""
        batches = list(self)
        return Batch(self, sum(map(len, batches)),
                     {name: _joined([b._columns[name] + (len(b),) for b in batches], self)
                      for name in self.columns})

    def to_pandas(self):
        """Read the rest of the table as a pandas.DataFrame."""
        return self.read().to_pandas()

    def text(self, number):
        """The text of a number of batch.codes, which all batches of the table share."""
        return self._reader.text(int(number))

    def texts(self, numbers):
        """The texts of an array of numbers, as an array of str."""
        numbers = np.asarray(numbers)
        most = int(numbers.max()) + 1 if numbers.size else 0
        if most > len(self._known):
            size = max(most, 2 * len(self._known))
            self._known, self._texts = (np.concatenate([old, np.zeros(size - len(old), old.dtype)])
                                        for old in (self._known, self._texts))
        unknown = numbers[~self._known[numbers]]
        for number in np.unique(unknown) if unknown.size else ():
            self._texts[number] = self.text(number)
            self._known[number] = True
        return self._texts[numbers]

    def stack(self, number):
        """The functions of a stack by its number in the column stack, the outermost first."""
        functions, number = [], int(number)
        while number:
            name, number = self._reader.stack(number)
            functions.append(self.text(name))
        return tuple(reversed(functions))

    def folded(self, numbers):
        """The texts "a;b;c" of some stacks."""
        return [";".join(self.stack(number)) for number in numbers]

    def is_stack(self, name):
        """Whether a column has the numbers of stacks."""
        return name == "stack" and self.name != "calls"


def events(source, columns=None, types=None, since=None, until=None, damage="raise"):
    """The events of a stream, in their order."""
    return Table(0, source, columns, types, since, until, damage)


def calls(source, columns=None, types=None, since=None, until=None, damage="raise"):
    """The calls of a stream, in the order of their ends; the unfinished ones are last."""
    return Table(1, source, columns, types, since, until, damage)


def samples(source, columns=None, types=None, since=None, until=None, damage="raise"):
    """The samples of a stream, in their order."""
    return Table(2, source, columns, types, since, until, damage)


def _names(names):
    return names.split(",") if isinstance(names, str) else [str(name) for name in names]


def _time(name, time):
    if time is not None and not isinstance(time, str):
        raise TypeError('%s is a text such as "12.5s", "+1.5s", "1234ns", or "1234" for ticks' % name)
    return time


def _source(source):
    """A path, or a descriptor that the reader will own, and its name for messages."""
    if hasattr(source, "fileno"):
        return os.dup(source.fileno()), str(getattr(source, "name", "<stream>"))
    if isinstance(source, int):
        return os.dup(source), "<descriptor %d>" % source
    return source, ""


def _column(rows, form, size, values, missing):
    if form == NONE:
        values = np.zeros(rows, np.int64)
    else:
        values = np.frombuffer(values, TYPES[form, size])
    return form, values, None if missing is None else np.frombuffer(missing, np.bool_)


def _joined(parts, table):
    """One column of the columns (form, values, missing, rows) of several batches."""
    forms = {part[0] for part in parts} - {NONE}
    if len(forms) > 1:
        if TEXT in forms:
            texts = [table.texts(p[1]) if p[0] == TEXT else p[1].astype(str).astype(object) for p in parts]
            return STR, np.concatenate(texts), _joined_missing(parts)
        large = UINT in forms and (REAL in forms or any(p[0] == INT and p[1].min() < 0 for p in parts))
        form = REAL if REAL in forms or large else UINT
    else:
        form = forms.pop() if forms else NONE
    dtype = {REAL: np.float64, UINT: np.uint64, TEXT: np.uint32, NONE: np.int64}.get(form)
    if form in (INT, UINT) and len({p[1].dtype for p in parts if p[0] != NONE}) == 1:
        dtype = next(p[1].dtype for p in parts if p[0] != NONE)
    values = np.concatenate([np.zeros(0, dtype)] + [p[1].astype(dtype, copy=False) for p in parts])
    return form, values, _joined_missing(parts)


def _joined_missing(parts):
    if all(p[2] is None for p in parts):
        return None
    return np.concatenate([np.zeros(p[3], np.bool_) if p[2] is None else p[2] for p in parts])
