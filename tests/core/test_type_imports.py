"""A signature says where its types are imported from."""

from __future__ import annotations

from adk_evidence.targets.imports import MAX_TYPES, field_type_names, taken_from_elsewhere, type_imports, type_names
from tests.core.test_fields import target

BUILD = target("Cook.boil", "async boil(pot: Optional[Pot], lids: list[Lid], heat: types.Heat = Heat()) -> Meal")


def test_the_types_of_a_signature_are_imported_package_by_package():
    cook = BUILD.model_copy(update={"types": ("kit.pots.Pot", "kit.pots.Lid", "kit.meals.Meal")})
    assert type_imports(cook) == ("from kit.pots import Pot, Lid", "from kit.meals import Meal")
    assert type_imports(BUILD) == ()


def test_other_names_and_whole_packages_are_imported_as_they_are_called():
    scheme = target("AnyScheme", "AnyScheme = Union[Flow, httpx.Auth]", kind="variable", types=("a.b as Flow", "httpx"))
    assert type_imports(scheme) == ("from a import b as Flow", "import httpx")


def test_a_signature_gets_few_statements():
    many = BUILD.model_copy(update={"types": tuple(f"kit.p{number}.T" for number in range(2 * MAX_TYPES))})
    assert len(type_imports(many)) == MAX_TYPES


def test_neither_values_nor_bases_are_types():
    assert type_names(BUILD) == ["Optional", "Pot", "Lid", "types.Heat", "Meal"]
    assert type_names(target("Pot", "class Pot(Vessel, Generic[T])")) == []


def test_a_variable_is_made_of_the_names_in_its_value():
    scheme = target("Any", "Any: TypeAlias = Union[Scheme, types.Content, 'Late', Made()]", kind="variable")
    assert type_names(scheme) == ["Union", "Scheme", "types.Content"]


def test_the_types_of_fields_are_in_their_annotations():
    fields = ("fuel: Optional[gas.Fuel] = Fuel.OIL", "pots: list[Pot] = Field(default_factory=Lids)", "plain: int")
    stove = target("Stove", "class Stove(BaseModel)", *fields, "heat(to: Level) -> None")
    assert field_type_names(stove) == ["Optional", "gas.Fuel", "Pot"]


def test_the_types_of_an_attribute_are_in_its_annotation():
    fuel = target("Stove.fuel", "fuel: Optional[gas.Fuel] = Fuel(1)", kind="attribute")
    assert type_names(fuel) == ["Optional", "gas.Fuel"]


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
