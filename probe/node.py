"""One value of a launch file with its path, and reading it as this or that."""

import unicodedata

INT_LIMIT = 1 << 127


class Refused(Exception):
    """A launch file that means nothing: file, key, what was found and what was expected."""

    def __init__(self, file, field, found, expected):
        super().__init__(f"{file}: `{field}`: found {found}, expected {expected}")


class Node:
    """A value and where it is."""

    def __init__(self, file, path, value):
        self.file, self.path, self.value = file, path, value

    def error(self, found, expected):
        return Refused(self.file, self.path, found, expected)

    def found(self):
        """What is there, for an error."""
        value = self.value
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, (int, float)):
            return str(value)
        if isinstance(value, str):
            return '"' + (value if len(value) <= 40 else value[:40] + "...") + '"'
        if isinstance(value, list):
            return f"an array of {len(value)}"
        if isinstance(value, dict):
            return "a table"
        return f"the date {value}"

    def string(self, expected):
        if not isinstance(self.value, str):
            raise self.error(self.found(), expected)
        return self.value

    def name(self, expected):
        """A non-empty string without control characters."""
        text = self.string(expected)
        if not text or len(text.encode()) > 256 or any(unicodedata.category(c) == "Cc" for c in text):
            raise self.error(self.found(), f"{expected} of 1 to 256 characters")
        return text

    def number(self, expected):
        """An int or a float as written."""
        value = self.value
        fits = isinstance(value, float) or (
            isinstance(value, int) and not isinstance(value, bool) and -INT_LIMIT <= value < INT_LIMIT
        )
        if not fits:
            raise self.error(self.found(), expected)
        return value

    def boolean(self):
        if not isinstance(self.value, bool):
            raise self.error(self.found(), "true or false")
        return self.value

    def integer(self, low, high):
        expected = f"an integer from {low} to {high}"
        value = self.number(expected)
        if isinstance(value, float) or not low <= value <= high:
            raise self.error(self.found(), expected)
        return value

    def array(self, low, high, what):
        if not isinstance(self.value, list) or not low <= len(self.value) <= high:
            raise self.error(self.found(), f"an array of {low} to {high} {what}")
        return [Node(self.file, f"{self.path}[{index}]", value) for index, value in enumerate(self.value)]

    def table(self, known):
        """A table with no keys but `known`."""
        if not isinstance(self.value, dict):
            raise self.error(self.found(), f"a table with {', '.join(known)}")
        return Fields(self.file, self.path, self.value, known)

    def has(self, key):
        return isinstance(self.value, dict) and key in self.value

    def choice(self, expected):
        """A string, or a table with one key that is the choice: its name and its value or None."""
        value = self.value
        if isinstance(value, str):
            return value, None
        if isinstance(value, dict) and len(value) == 1:
            [(key, inner)] = value.items()
            return key, Node(self.file, f"{self.path}.{key}", inner)
        found = f"a table with {len(value)} keys" if isinstance(value, dict) else self.found()
        raise self.error(found, expected)


class Fields:
    """A table all of whose keys are known."""

    def __init__(self, file, path, table, known):
        self.file, self.path, self.values = file, path, table
        for key in table:
            if key not in known:
                raise Refused(file, self.path_of(key), "an unknown key", f"one of {', '.join(known)}")

    def path_of(self, key):
        return f"{self.path}.{key}" if self.path else key

    def optional(self, key):
        return Node(self.file, self.path_of(key), self.values[key]) if key in self.values else None

    def required(self, key, expected):
        node = self.optional(key)
        if node is None:
            raise self.missing(key, expected)
        return node

    def missing(self, key, expected):
        return Refused(self.file, self.path_of(key), "nothing", expected)

    def integer(self, key, low, high, default):
        node = self.optional(key)
        return default if node is None else node.integer(low, high)

    def array(self, key, low, high, what):
        """The elements of an array; none when the key is absent."""
        node = self.optional(key)
        return [] if node is None else node.array(low, high, what)
