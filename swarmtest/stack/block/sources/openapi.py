"""Requests out of an OpenAPI description (3.x, or Swagger 2.0): those that it gives all values for.

Values come from ``example``, ``examples``, ``default``, ``enum`` and ``const``. Nothing is made up: a path whose
parameter has none of them is left out. References into other files aren't followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from swarmtest.errors import StackError
from swarmtest.stack.block.sources import LeftOut, Sample, Taken, Wanted
from swarmtest.stack.block.sources.paths import split, wire_path
from swarmtest.stack.reader import OUR_HEADERS, is_header
from swarmtest.stack.syntax.yamlfile import YamlTree, read_text, read_yaml

WHAT = "an OpenAPI description"
METHODS = ("get", "head", "options", "post", "put", "patch", "delete", "trace")
MOST_REFERENCES = 20
"""So many in a row; more lead in circles."""


class _Description:
    """The file, with the line of each key for errors."""

    def __init__(self, path: Path, read: YamlTree) -> None:
        self._path, self._lines = path, read.lines
        if not isinstance(read.tree, dict):
            raise StackError(f"expected {WHAT} with the key paths, found something else", file=path, line=1)
        self.tree: Mapping[str, Any] = read.tree
        version = str(self.tree.get("openapi") or self.tree.get("swagger") or "")
        if not version.startswith(("3.", "2.0", "2")):
            found = f"version {version}" if version else "neither of the keys openapi and swagger"
            raise StackError(f"expected {WHAT}, version 3.x or 2.0, found {found}", file=path, line=1)

    def error(self, problem: str, *key: str) -> StackError:
        """An error at a key, or at the nearest one above it."""
        known = key
        while known and known not in self._lines:
            known = known[:-1]
        return StackError(problem, file=self._path, line=self._lines.get(known), key=" ".join(key))

    def resolved(self, value: Any, *key: str) -> Mapping[str, Any]:
        """A mapping, by its references where it is one."""
        for _ in range(MOST_REFERENCES):
            if not isinstance(value, dict):
                raise self.error(f"expected a mapping, found {value!r}", *key)
            if "$ref" not in value:
                return value
            value = self._at(str(value["$ref"]), key)
        raise self.error("references that lead in circles", *key)

    def _at(self, reference: str, key: tuple[str, ...]) -> Any:
        if not reference.startswith("#/"):
            problem = f"a reference to another file, {reference!r}, isn't followed; bundle them into one file"
            raise self.error(problem, *key, "$ref")
        found: Any = self.tree
        for step in reference[2:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                raise self.error(f"a reference to what isn't there: {reference!r}", *key, "$ref")
            found = found[name]
        return found


def read_openapi(path: Path, wanted: Wanted) -> Taken:
    """The requests of a description.

    Raises:
        StackError: it isn't one; the message has the line.
    """
    description = _Description(path, _read(path))
    base = wanted.base_path if wanted.base_path is not None else _base_path(description)
    left_out, samples = LeftOut(), []
    paths = description.tree.get("paths") or {}
    if not isinstance(paths, dict):
        raise description.error(f"expected a mapping, found {paths!r}", "paths")
    for template, value in paths.items():
        if str(template).startswith("x-"):
            continue
        item = description.resolved(value, "paths", str(template))
        for method in METHODS:
            if method in item:
                operation = _Operation(description, str(template), method, item)
                if why := operation.hindrance(wanted):
                    left_out.add(why, f"{method.upper()} {template}")
                else:
                    samples.append(operation.sample(base))
    return Taken(tuple(samples), left_out)


def _read(path: Path) -> YamlTree:
    """YAML with its lines, or JSON without: large ones are mostly JSON, and that's quick to read."""
    if path.suffix != ".json":
        return read_yaml(path, WHAT)
    try:
        return YamlTree(msgspec.json.decode(read_text(path, WHAT)), {})
    except (msgspec.DecodeError, RecursionError) as error:
        raise StackError(f"not valid JSON: {error}", file=path) from error


def _base_path(description: _Description) -> str:
    """The path of the first server, which all paths are below of."""
    if "swagger" in description.tree:
        return str(description.tree.get("basePath") or "").rstrip("/")
    servers = description.tree.get("servers") or []
    first = servers[0] if isinstance(servers, list) and servers else {}
    url = str(first.get("url") or "") if isinstance(first, dict) else ""
    variables = (first.get("variables") or {}) if isinstance(first, dict) else {}
    for name, variable in variables.items() if isinstance(variables, dict) else ():
        url = url.replace(f"{{{name}}}", str(variable.get("default", "")) if isinstance(variable, dict) else "")
    return split(url).path.rstrip("/")


class _Operation:
    """One operation, with the parameters that it must have."""

    def __init__(self, description: _Description, template: str, method: str, item: Mapping[str, Any]) -> None:
        self._description, self._template, self._method = description, template, method
        self._key = ("paths", template, method)
        self._body = description.resolved(item[method], *self._key)
        self._parameters = list(self._read_parameters(item))

    def _read_parameters(self, item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Those of the path and of the operation, of which the latter come first."""
        known: dict[tuple[str, str], Mapping[str, Any]] = {}
        for owner, key in ((item, self._key[:2]), (self._body, self._key)):
            values = owner.get("parameters") or []
            if not isinstance(values, list):
                raise self._description.error(f"expected a list, found {values!r}", *key, "parameters")
            for number, value in enumerate(values):
                parameter = self._description.resolved(value, *key, "parameters", str(number))
                known[str(parameter.get("in")), str(parameter.get("name"))] = parameter
        yield from (one for (where, _), one in known.items() if where == "path" or one.get("required"))

    def hindrance(self, wanted: Wanted) -> str:
        """Why it can't be sent; empty where it can."""
        method = self._method.upper()
        if method not in wanted.methods:
            return f"since {method} isn't among the methods ({', '.join(wanted.methods)})"
        if self._needs_log_in() and not wanted.headers:
            return "since they ask for a log-in (headers adds what they ask for)"
        if self._needs_body():
            return "since they need a body of their own"
        given = {name.lower() for name in wanted.headers}
        for one in self._parameters:
            name, where = str(one.get("name")), str(one.get("in"))
            if (where == "header" and name.lower() in given) or (where == "cookie" and "cookie" in given):
                continue
            if where == "cookie" or (where == "header" and name.lower() in ("cookie", "authorization")):
                return "since they need a cookie or a secret (headers adds it)"
            if self._value(one) is None:
                return f"since nothing says what {{{name}}} may be (example, default or enum)"
            if where == "header" and not _sendable(name, _joined(self._value(one))):
                return f"since {name!r} can't be sent as a header of theirs as it's described"
        missing = [name for name in _names_in(self._template) if not self._has(name)]
        return f"since {{{missing[0]}}} isn't described" if missing else ""

    def _has(self, name: str) -> bool:
        return any(one.get("in") == "path" and one.get("name") == name for one in self._parameters)

    def _needs_log_in(self) -> bool:
        asked = self._body.get("security", self._description.tree.get("security"))
        return bool(asked) and isinstance(asked, list) and {} not in asked

    def _needs_body(self) -> bool:
        body = self._body.get("requestBody")
        if body is not None:
            return bool(self._description.resolved(body, *self._key, "requestBody").get("required"))
        return any(one.get("in") in ("body", "formData") for one in self._parameters)

    def _value(self, parameter: Mapping[str, Any]) -> Any:
        """The value that the description gives for a parameter; None where it gives none."""
        key = (*self._key, str(parameter.get("name")))
        content = parameter.get("content")
        described = next(iter(content.values()), None) if isinstance(content, dict) else parameter
        schema = described.get("schema") if isinstance(described, dict) else None
        owners = [parameter, described, self._description.resolved(schema, *key) if isinstance(schema, dict) else None]
        for owner in owners:
            for found in _given(owner) if isinstance(owner, dict) else ():
                example = isinstance(found, dict) and owner is not owners[2]
                value = self._description.resolved(found, *key).get("value") if example else found
                if _usable(value):
                    return value
        return None

    def sample(self, base: str) -> Sample:
        """The request."""
        path, query, headers = self._template, [], {}
        for one in self._parameters:
            name, value = str(one.get("name")), self._value(one)
            match one.get("in"):
                case "path":
                    path = path.replace(f"{{{name}}}", quote(_joined(value), safe=""))
                case "query":
                    query += [(name, _text(item)) for item in (value if isinstance(value, list) else [value])]
                case "header" if value is not None:
                    headers[name] = _joined(value)
        wire = wire_path(base + path + (f"?{urlencode(query)}" if query else ""))
        return Sample(self._method.upper(), wire, base + self._template, headers=headers)


def _given(owner: Mapping[str, Any]) -> Iterator[Any]:
    """All values that a parameter or its schema gives, the most telling first."""
    yield owner.get("example")
    yield owner.get("x-example")
    examples = owner.get("examples")
    yield from examples.values() if isinstance(examples, dict) else examples if isinstance(examples, list) else ()
    yield owner.get("const")
    yield owner.get("default")
    enum = owner.get("enum")
    yield from enum if isinstance(enum, list) else ()


def _usable(value: Any) -> bool:
    """Whether it can stand in a URL: a text, a number, or a list of them."""
    if isinstance(value, list):
        return bool(value) and all(_usable(item) and not isinstance(item, list) for item in value)
    return isinstance(value, (str, int, float)) and value != ""


def _sendable(name: str, value: str) -> bool:
    return is_header(name, value) and name.lower() not in OUR_HEADERS


def _names_in(template: str) -> list[str]:
    return [part.partition("}")[0] for part in template.split("{")[1:]]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _joined(value: Any) -> str:
    return ",".join(map(_text, value)) if isinstance(value, list) else _text(value)
