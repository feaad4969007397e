"""A signature says where its types are imported from."""

from __future__ import annotations

from adk_evidence.symbols.imports import MAX_TYPES, type_imports, type_names
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


def test_neither_other_packages_nor_values_nor_bases_are_types():
    assert type_names(BUILD) == ["Optional", "Pot", "Lid", "Meal"]
    assert type_names(target("Pot", "class Pot(Vessel, Generic[T])")) == []


def test_a_variable_is_made_of_the_names_in_its_value():
    scheme = target("Any", "Any: TypeAlias = Union[Scheme, types.Content, 'Late', Made()]", kind="variable")
    assert type_names(scheme) == ["Union", "Scheme", "types.Content"]
