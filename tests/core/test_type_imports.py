"""A signature says where its types are imported from."""

from __future__ import annotations

from adk_evidence.targets.imports import MAX_TYPES, field_type_names, taken_from_elsewhere, type_imports, type_names
from tests.core.test_fields import target

BUILD = target("Cook.boil", "async boil(pot: Optional[Pot], lids: list[Lid], heat: types.Heat = Heat()) -> Meal")


def test_the_types_of_a_signature_are_imported_package_by_package_as_they_are_called():
    def statements(*types):
        return type_imports(BUILD.model_copy(update={"types": types}))

    assert statements("kit.pots.Pot", "kit.pots.Lid", "a.b as Flow", "httpx") == (
        "from kit.pots import Pot, Lid",
        "from a import b as Flow",
        "import httpx",
    )
    assert statements() == ()
    assert len(statements(*(f"kit.p{number}.T" for number in range(2 * MAX_TYPES)))) == MAX_TYPES


def test_the_types_of_a_target_are_those_that_its_signature_or_its_value_names():
    assert type_names(BUILD) == ["Optional", "Pot", "Lid", "types.Heat", "Meal"]
    assert type_names(target("Pot", "class Pot(Vessel, Generic[T])")) == []
    scheme = target("Any", "Any: TypeAlias = Union[Scheme, types.Content, 'Late', Made()]", kind="variable")
    assert type_names(scheme) == ["Union", "Scheme", "types.Content"]
    fuel = "fuel: Optional[gas.Fuel] = Fuel.OIL"
    assert type_names(target("Stove.fuel", fuel, kind="attribute")) == ["Optional", "gas.Fuel"]
    fields = (fuel, "pots: list[Pot] = Field(default_factory=Lids)", "plain: int")
    stove = target("Stove", "class Stove(BaseModel)", *fields, "heat(to: Level) -> None")
    assert field_type_names(stove) == ["Optional", "gas.Fuel", "Pot"]


def test_what_signatures_take_from_other_packages_is_found_by_its_name():
    taking = [
        target("Pot", "Pot()", module="kit.pots"),
        target("a", "a(one: Pot)", types=("kit.pots.Pot", "shop.lids as covers", "rare.Heat")),
        target("b", "b(one: Heat)", types=("warm.Heat", "httpx")),
        target("c", "c(one: Heat)", types=("warm.Heat",)),
        # As a module is called here.
        target("d", "d(one: pots.Pot)", types=("shop.pots",)),
    ]
    assert taken_from_elsewhere(taking) == {
        "Heat": "from warm import Heat",
        "covers": "from shop import lids as covers",
        "httpx": "import httpx",
    }
