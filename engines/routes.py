"""Which engine draws which garments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from engines.base import Category, Engine, EngineUnavailable, Garment
from engines.registration import AUTO

EVERYTHING = "*"


@dataclass(frozen=True)
class Route:
    """Names of engines by category.

    Attributes:
        everything_else: Draws what has no engine of its own, and outfits whose garments have different ones.
        by_category: Engines of single categories.
    """

    everything_else: str
    by_category: Mapping[Category, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Every engine of the route once, the one for everything else first."""
        return tuple(dict.fromkeys([self.everything_else, *self.by_category.values()]))

    def with_auto(self, best: Callable[[], str]) -> Route:
        """The route with `AUTO` replaced by what ``best`` says; it is asked only where that stands in the route."""
        if AUTO not in self.names:
            return self
        name = best()
        chosen = {category: name if engine == AUTO else engine for category, engine in self.by_category.items()}
        return Route(name if self.everything_else == AUTO else self.everything_else, chosen)

    def engine_of(self, categories: Iterable[Category]) -> str:
        """The name of the engine that draws garments of these categories in one picture."""
        names = {self.by_category.get(category, self.everything_else) for category in categories}
        return names.pop() if len(names) == 1 else self.everything_else


def parse_route(text: str, known: Iterable[str]) -> Route:
    """Read a route: one engine's name, or pairs as in ``upper_body=fashn,*=klein``.

    Raises:
        ValueError: It is neither, names an engine or category that does not exist, or has none for ``*``.
    """
    names = {AUTO, *known}
    if text.strip() in names:
        return Route(text.strip(), {})
    categories = {EVERYTHING, *Category}
    chosen: dict[str, str] = {}
    for pair in text.split(","):
        category, _, name = (part.strip() for part in pair.partition("="))
        if category not in categories or name not in names or category in chosen:
            raise ValueError(
                f"{pair.strip()!r} is no route: name one of {', '.join(sorted(names))}, or pairs like "
                f"upper_body=fashn,*=klein with the categories {', '.join(sorted(categories))}"
            )
        chosen[category] = name
    if EVERYTHING not in chosen:
        raise ValueError(f"{text!r} names no engine for everything else: add *=…")
    everything_else = chosen.pop(EVERYTHING)
    return Route(everything_else, {Category(name): engine for name, engine in chosen.items()})


class RoutedEngines:
    """The engines of a process.

    Args:
        route: Names.
        engines: By name; every name of the route is there. Others draw only what names them.
    """

    def __init__(self, route: Route, engines: Mapping[str, Engine]) -> None:
        self._route = route
        self._engines = engines

    @property
    def all(self) -> list[Engine]:
        """Each engine once, in the order of setting up: what chooses by free memory comes after all others."""
        return sorted(self._engines.values(), key=lambda engine: engine.info.by_free_memory)

    @property
    def parallel(self) -> int:
        """How many renders may run at a time, all engines together; each has a bound of its own besides."""
        return max(engine.info.parallel for engine in self.all)

    def engine_for(self, garments: Iterable[Garment], named: str | None = None) -> Engine:
        """The engine that draws these garments: the one that is named, or else that of the route.

        Raises:
            EngineUnavailable: The one that is named is not here.
        """
        if named is not None and named not in self._engines:
            raise EngineUnavailable(f"No GPU worker has the engine {named}: name it in TRYON_ENGINES_BESIDE.")
        return self._engines[named or self._route.engine_of(garment.category for garment in garments)]
