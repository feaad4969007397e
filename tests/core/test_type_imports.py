"""A signature says where its types are imported from."""

from __future__ import annotations

from adk_evidence.symbols.imports import TypeImports
from tests.core.test_fields import target

BUILD = target("Cook.boil", "async boil(pot: Optional[Pot], lids: list[Lid], heat: types.Heat = Heat()) -> Meal")
POT = target("Pot", module="kit.pots")
LID = target("Lid", module="kit.pots")
MEAL = target("Meal", module="kit.meals")


def test_the_types_of_a_signature_are_imported_package_by_package():
    imports = TypeImports([BUILD, POT, LID, MEAL]).imports(BUILD)
    assert imports == ("from kit.pots import Pot, Lid", "from kit.meals import Meal")


def test_a_type_that_several_classes_are_called_like_is_left_out():
    other = target("Lid", module="kit.eyes")
    assert TypeImports([BUILD, POT, LID, other, MEAL]).imports(BUILD)[0] == "from kit.pots import Pot"


def test_neither_other_packages_nor_values_are_types():
    heat = target("Heat", module="kit.heat")
    assert TypeImports([BUILD, heat]).imports(BUILD) == ()


def test_the_class_of_a_method_is_imported_already():
    cook = target("Cook", module="kit.cooks")
    copy = target("Cook.copy", "copy(other: Cook) -> Cook", module="kit.cooks")
    assert TypeImports([cook, copy]).imports(copy) == ()
