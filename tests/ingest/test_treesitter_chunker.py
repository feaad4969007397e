"""Files in TypeScript, R and other languages as chunks: every line once, one chunk a definition, nothing too long."""

import textwrap
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_evidence.settings import ChunkingSettings
from adk_ingest.chunking.base import ChunkedFile, RawChunk, SourceFile
from adk_ingest.chunking.code import chunk_code
from adk_ingest.chunking.treesitter_languages import LANGUAGES
from tests.ingest.exact import assert_exact
from tests.ingest.test_python_chunker import assert_invariants, sizes

# One for each grammar, and R.
EXTENSIONS = [
    ".ts",
    ".tsx",
    ".js",
    ".go",
    ".rs",
    ".cpp",
    ".cs",
    ".r",
    ".java",
    ".kt",
    ".php",
    ".rb",
    ".swift",
    ".scala",
]
EXTENSIONS += [".lua", ".ex", ".hs", ".zig", ".sh"]
# What precedes code in a file that is something else without.
OPENINGS = {".php": "<?php\n"}


def split(extension: str, text: str, chunking: ChunkingSettings | None = None) -> ChunkedFile:
    chunking = chunking or sizes(minimum=1)
    chunked = chunk_code(SourceFile(f"src/thing{extension}", text, ""), chunking)
    if not chunked.parse_failed and chunked.chunks:
        assert_invariants(text, chunked.chunks, chunking)
    return chunked


def chunks_of(extension: str, text: str, chunking: ChunkingSettings | None = None) -> list[RawChunk]:
    chunked = split(extension, textwrap.dedent(text).lstrip("\n"), chunking)
    assert not chunked.parse_failed
    return chunked.chunks


TYPESCRIPT = """
/**
 * @fileoverview Talks to the server.
 */
import { a } from "a";

export const LIMIT = 3, OTHER = a;

/**
 * Says hello.
 *
 * To everyone.
 * @param name whom
 */
@Component({ tag: "x", template: "<b>@nothing</b>" })
@core.Injectable<Row>()
export class Greeter<T> extends Base implements Speaks {
  @Input() name = "x";
  onClick = async (event: Event) => { };
  constructor(private readonly host: Host) { super(); }
  /** Speaks. */
  @HostListener("click", ["$event"])
  speak(@Inject(TOKEN) event: Event): void { function inner() { } }
}

// Adds up.
export const add = (one: number, other: number): number => one + other;

export default async function main(argv: string[]): Promise<void> { }

export interface Props extends Base { title: string; close(): void }
export type Id = string | number;
export enum Color { Red, Green }
namespace Geo.Flat { export function area(): number { return 1 } }
function over(a: string): void;
function over(a: number): void;
function over(a: unknown) { }
"""


def test_typescript_definitions_are_chunks_with_their_comments_and_decorators() -> None:
    module, greeter, add, main, props, ident, color, area, over = chunks_of(".ts", TYPESCRIPT)
    assert (module.symbol, module.symbol_kind, module.fqn, module.lang) == ("thing", "module", None, "ts")
    assert module.doc == "Talks to the server." and module.symbols == ("LIMIT", "OTHER")
    assert greeter.body.startswith("/**\n * Says hello.") and "@Component" in greeter.body
    assert (greeter.symbol, greeter.symbol_kind, greeter.doc) == ("Greeter", "class", "Says hello.")
    assert greeter.signature == "export class Greeter<T> extends Base implements Speaks"
    assert greeter.decorators == ("Component", "core.Injectable", "Input", "HostListener", "Inject")
    members = ("name", "onClick", "constructor", "speak", "speak.inner")
    assert greeter.symbols == ("Greeter", *(f"Greeter.{member}" for member in members))
    assert (add.symbol, add.symbol_kind, add.doc) == ("add", "function", "Adds up.")
    assert add.signature == "export const add = (one: number, other: number): number"
    assert main.signature == "export default async function main(argv: string[]): Promise<void>"
    assert (props.symbol, props.symbol_kind, props.symbols) == ("Props", "interface", ("Props", "Props.close"))
    assert (ident.symbol_kind, ident.signature) == ("type", "export type Id = string | number")
    assert (color.symbol, color.symbol_kind, color.signature) == ("Color", "enum", "export enum Color")
    assert (area.symbol, area.signature) == ("Geo.Flat.area", "export function area(): number")
    assert over.symbols == ("over",) and over.body.count("function over") == 3, "overloads stay together"


DECLARATIONS = """
/// <reference types="node" />
import type { A } from "./a.js";

/** Makes a router. */
export declare function createRouter(routes: string): Router;
export declare function createRouter(routes: string[], options: Options): Router;

export interface Router extends A {
  /** Goes there. */
  navigate(to: string): Promise<void>;
  readonly state: State;
}

export type Options = { basename?: string };
export declare const enum Mode { Fast, Slow }
export declare abstract class Base<T> { protected constructor(value: T); abstract run(): void; static of<T>(v: T): T }
export declare const useRouter: (options?: Options) => Router;
export declare const VERSION: string, LIMIT: number;

declare module "express-session" {
  interface SessionData { user: string }
}
declare global {
  interface Window { router: Router }
  function reload(): void;
}
declare namespace Geo.Flat { function area(): number }
export as namespace Routing;
"""


@pytest.mark.parametrize("extension", [".d.ts", ".d.mts", ".d.cts"])
def test_declarations_are_chunks_that_are_called_what_they_are(extension: str) -> None:
    chunks = chunks_of(extension, DECLARATIONS)
    assert [(chunk.symbol, chunk.symbol_kind) for chunk in chunks if chunk.symbol_kind != "module"] == [
        ("createRouter", "function"),
        ("Router", "interface"),
        ("Options", "type"),
        ("Mode", "enum"),
        ("Base", "class"),
        ("useRouter", "function"),
        ("express-session.SessionData", "interface"),
        ("Window", "interface"),
        ("reload", "function"),
        ("Geo.Flat.area", "function"),
    ]
    router, base = chunks[1], chunks[5]
    assert router.doc == "Makes a router." and router.body.count("createRouter") == 2, "overloads stay together"
    assert base.symbols == ("Base", "Base.constructor", "Base.run", "Base.of")
    assert ("VERSION", "LIMIT") in [chunk.symbols for chunk in chunks]


@pytest.mark.parametrize(
    "declared",
    ["export default function (): {\n  message: string;\n};", "export default function<T>(value: T): T;"],
)
def test_a_default_export_without_a_name_is_declared(declared: str) -> None:
    chunked = split(".d.ts", f'import type * as a from "./a.js";\n\n{declared}\n')
    assert not chunked.parse_failed and not chunked.warnings
    assert (chunked.chunks[-1].symbol, chunked.chunks[-1].symbol_kind) == ("default", "function")
    assert chunked.chunks[-1].signature == " ".join(declared.rstrip(";").split())


def test_components_of_tsx_are_chunks() -> None:
    page, row, card = chunks_of(
        ".tsx",
        """
        export function Page({ title }: Props) {
          return <main onClick={() => close()}>{title}</main>;
        }
        const Row: FC<Props> = ({ text }) => <li>{text}</li>;
        export const Card = React.memo(function Card(props: Props) {
          return <Row {...props} />;
        });
        """,
    )
    assert (page.symbol, page.signature, page.lang) == ("Page", "export function Page({ title }: Props)", "tsx")
    assert [(one.symbol, one.symbol_kind) for one in (row, card)] == [("Row", "function"), ("Card", "function")]


def test_javascript_of_all_ages() -> None:
    chunks = chunks_of(
        ".js",
        """
        var Shape = function (size) { this.size = size; };
        Shape.prototype.area = function () { return this.size; };
        module.exports.load = async () => 1;
        function* numbers() { yield 1; }
        class Square extends Shape { #side = 1; static of = () => new Square(); get side() { return 1; } }
        const api = { fetch: (url) => url, parse(text) { return text; } };
        export default class extends Square { }
        """,
    )
    assert [chunk.symbol for chunk in chunks] == [
        "Shape",
        "Shape.area",
        "load",
        "numbers",
        "Square",
        "thing",
        "default",
    ]
    assert chunks[4].symbols == ("Square", "Square.of", "Square.side")
    assert chunks[5].symbols == ("api", "api.fetch", "api.parse")


def test_what_is_too_long_falls_apart_by_what_it_holds() -> None:
    inner = "".join(f"  function helper{n}() {{\n    return {n};\n  }}\n" for n in range(9))
    text = f"(function () {{\n{inner}}})();\n"
    assert [chunk.symbol for chunk in split(".js", text).chunks] == ["thing"]
    cut = split(".js", text, sizes(symbol=200, minimum=10, overlap=50)).chunks
    assert {f"helper{n}" for n in range(9)} <= {chunk.symbol for chunk in cut}
    body = "".join(f"    this.value{i} = this.compute({i});\n" for i in range(20))
    text = f"/** A big class. */\nexport class Big {{\n  size = 1;\n\n  @memo()\n  long(): void {{\n{body}  }}\n}}\n"
    head, long = split(".ts", text, sizes(symbol=800, minimum=30)).chunks
    assert (head.symbol, head.symbol_kind, head.doc) == ("Big", "class", "A big class.")
    assert (long.symbol, long.symbol_kind, long.signature) == ("Big.long", "method", "long(): void")
    assert long.body.startswith("  @memo()") and long.tail == "export class Big {"


GO = """
// Package shop sells.
package shop

// Cart holds items.
type Cart struct { items []string }

// Add puts one in.
func (c *Cart) Add(item string) error { return nil }

func New[T any]() *Cart { return nil }
type Seller interface { Sell() }
type ID = string
"""
RUST = """
//! Sells things.
use std::fmt;

/// Holds items.
#[derive(Debug)]
pub struct Cart<T> { items: Vec<T> }
impl<T> Cart<T> { pub fn add(&mut self, item: T) { } }
pub trait Sell { fn sell(&self); }
enum Size { Large }
type Id = Size;
mod inner { pub fn count() -> usize { 1 } }
mod std { use a::b; }
"""
CPP = """
#include <vector>
namespace std { struct Row; }
namespace shop {
/** Holds items. */
template <typename T> class Cart : public Base { int size() const { return 1; } };
class SHOP_API Till final : public Base { void open() { } };
struct ALIGNED(8) Row { int a; };
}
using Id = int;
enum class Size { Large };
int shop::total(int a) { return a; }
char *name(void) { return 0; }
Cost operator/(const Cost &one, const Cost &other) { return one; }
"""
C_SHARP = """
using System;
namespace Std { }
namespace Shop.Web {
/// <summary>Holds items.</summary>
[Serializable]
public class Cart<T> : Base { public int Size { get; set; } public void Add(T item) { } }
public interface ISell { void Sell(); }
}
enum Size { Large }
delegate int Id(int size);
"""
C = """
#define SIZE(x) (x)
struct cart { int size; };
typedef struct { int a; } item_t;
typedef int id;
enum size { large };
typedef struct row_st { int a; } ROW;
typedef enum l { m } l;
static int add(struct cart *c) { return c->size; }
"""

JAVA = """
package com.shop;

/**
 * Holds items.
 *
 * @param <T> what they are
 */
@Deprecated
@Named("cart")
public abstract class Cart<T extends Item> extends Base implements Sells {
  private List<T> items;
  public Cart(int size) { super(size); }

  /** Adds one. */
  @Override
  public <R> R add(T item) throws Full { return run(new Task() { public void go() { } }); }
  static class Builder { Builder of(int size) { return this; } }
}
record Point(int x, int y) { int sum() { return x + y; } }
sealed interface Sells permits Cart { void sell(); }
@interface Named { String value() default ""; }
enum Size { LARGE, SMALL; int cost() { return 1; } }
"""
KOTLIN = """
@file:JvmName("Carts")
package com.shop

const val LIMIT = 3

/**
 * Holds items.
 */
@Serializable
data class Cart<T : Any>(val items: List<T>) : Base(), Sells {
  val total: Int get() = 1

  /** Adds one. */
  @JvmStatic
  override suspend fun <R> add(item: T): R {
    fun inner() {}
    return TODO()
  }
  companion object {
    fun of() = Cart(listOf())
  }
}
object Registry {
  @get:Rule
  fun find() = 1
}
interface Sells {
  fun sell()
}
enum class Size(val n: Int) {
  LARGE(1), SMALL(2);

  fun cost() = n
}
typealias Id = String
fun String.shout(): String = uppercase()
"""
PHP = """<?php
namespace Shop\\\\Web;

const LIMIT = 3;

/**
 * Holds items.
 */
#[Named("cart")]
final class Cart extends Base implements Sells
{
    private array $items = [];

    /** Adds one. */
    #[Pure]
    public static function add(Item $item): ?int { return 1; }
}
interface Sells { public function sell(): void; }
trait Counts { function count() { } }
enum Size: string { case Large = 'l'; public function cost(): int { return 1; } }
function total(int ...$all): int { return 1; }
$twice = fn($x) => 2 * $x;
"""
RUBY = """
# frozen_string_literal: true

# Sells.
module Shop
  # Holds items.
  #
  # @param size [Integer]
  class Cart < Base
    LIMIT = 3
    attr_reader :items

    # Adds one.
    def add(item)
      item
    end

    class << self
      def build; end
    end

    private def <=>(other); end
  end

  class Web::Router
    def self.go? = true
  end
end

# Counts.
module Counts
  Row = Struct.new(:x) do
    def sum; x; end
  end

  def count; end
end

def total(all)
  all
end
"""
SWIFT = """
import Foundation

/// Holds items.
///
/// - Parameter size: how many
@MainActor
public final class Cart<T: Item>: Base where T: Codable {
    private var items: [T] = []
    public init(size: Int) { }

    /// Adds one.
    @discardableResult
    open override func add(_ item: T) async throws -> Bool { return true }
    subscript(place: Int) -> T { items[place] }
    static func == (one: Cart, other: Cart) -> Bool { true }
}
struct Point { mutating func move() {} }
enum Size: String { case large, small; func cost() -> Int { 1 } }
protocol Sells: AnyObject {
    var size: Int { get }
    func sell()
}
extension Point: Codable { func more() {} }
typealias Id = String
func total(_ all: Int...) -> Int { return 1 }
"""
SCALA = """
package com.shop

/** Holds items.
  *
  * @param size how many
  */
@deprecated("old")
final case class Cart[T <: Item](size: Int) extends Base with Sells {
  val max = 3

  /** Adds one. */
  @tailrec
  override def add[R](item: T)(implicit x: X): R = { def inner() = 1; ??? }
}
object Registry { def find(): Cart = new Cart(1) }
trait Sells { def sell(): Unit }
enum Size { case Large, Small; def cost = 1 }
type Id = String
package inner { class Deep }
def total(all: Int*): Int =
  all.sum
"""
LUA = """
-- Sells.
local M = {}

--- Adds one.
-- @param item what
local function add(item)
  local function inner() end
end

function M.load(path) end
function M:sell(item) end
M.run = function(x) return x end
local Registry = { find = function(self) end }
return M
"""
ELIXIR = """
defmodule Shop.Cart do
  use GenServer

  @callback init(keyword) :: term

  @doc \"\"\"
  Adds one.

  More.
  \"\"\"
  @spec add(t, integer) :: t
  @impl true
  def add(cart, item) when is_integer(item) do
    cart
  end
  def add(cart, _), do: cart

  defp secret(a), do: a
  defmacro twice(x), do: x
end

defmodule Shop.Web do
  defmodule Router do
    def go, do: 1
  end
end

defprotocol Sells do
  def sell(x)
end

defimpl Sells, for: Shop.Cart do
  def sell(x), do: x
end
"""
HASKELL = """
{-# LANGUAGE GADTs #-}
module Shop (add, Cart (..)) where

import Data.List

-- | Holds items.
data Cart a = Cart { size :: Int } | Empty
  deriving (Show)

newtype Id = Id String
type Alias = Int

class Sells a where
  sell :: a -> Int

instance Sells (Cart a) where
  sell _ = 2

-- | Adds one.
add :: Int -> Int
    -> Int
add 0 y = y
add x y = z
  where z = x + y

(<+>) :: Int -> Int -> Int
a <+> b = a
"""
ZIG = """
//! Sells.
const std = @import("std");

/// Holds items.
pub const Cart = struct {
    size: usize,

    /// Adds one.
    pub fn add(self: *Cart, item: u8) !void {
        _ = self;
    }
};
const Size = enum { large, fn cost() u8 { return 1; } };
pub fn List(comptime T: type) type {
    return struct {
        items: []T,
        fn init() void {}
    };
}
export fn total(all: u8) u8 { return all; }
"""
BASH = """
#!/usr/bin/env bash
# Sells.

set -eu
LIMIT=3
readonly OTHER=4

# Adds one.
#
# $1 what
add() {
  local x=1
  inner() { echo "$x"; }
}
function total { echo 1; }
"""


@pytest.mark.parametrize(
    ("extension", "text", "kinds"),
    [
        (
            ".go",
            GO,
            {"Cart": "class", "Cart.Add": "method", "New": "function", "Seller": "interface", "ID": "type"},
        ),
        (
            ".rs",
            RUST,
            {"Cart": "class", "Cart.add": None, "Sell": "interface", "Sell.sell": None, "Size": "enum", "Id": "type"}
            | {"inner.count": "function"},
        ),
        (
            ".cpp",
            CPP,
            {"shop.Cart": "class", "shop.Cart.size": None, "shop.Till": "class", "shop.Till.open": None}
            | {"shop.Row": "class", "Id": "type", "Size": "enum", "shop.total": "function"}
            | {"name": "function", "operator/": "function"},
        ),
        (
            ".cs",
            C_SHARP,
            {"Shop.Web.Cart": "class", "Shop.Web.Cart.Size": None, "Shop.Web.Cart.Add": None}
            | {"Shop.Web.ISell": "interface", "Shop.Web.ISell.Sell": None, "Size": "enum", "Id": "type"},
        ),
        (
            ".c",
            C,
            {"SIZE": "function", "cart": "class", "item_t": "class", "id": "type", "size": "enum", "ROW": "class"}
            | {"ROW.row_st": None, "l": "enum", "add": "function"},
        ),
        (
            ".java",
            JAVA,
            {"Cart": "class", "Point": "class", "Sells": "interface", "Named": "interface", "Size": "enum"}
            | dict.fromkeys(["Cart.items", "Cart.Cart", "Cart.add", "Cart.add.go", "Cart.Builder", "Cart.Builder.of"])
            | dict.fromkeys(["Point.sum", "Sells.sell", "Named.value", "Size.cost"]),
        ),
        (
            ".kt",
            KOTLIN,
            {"Cart": "class", "Registry": "class", "Sells": "interface", "Size": "enum", "Id": "type"}
            | {"LIMIT": None, "shout": "function"}
            | dict.fromkeys(["Cart.total", "Cart.add", "Cart.add.inner", "Cart.of"])
            | dict.fromkeys(["Registry.find", "Sells.sell", "Size.cost"]),
        ),
        (
            ".php",
            PHP,
            {"LIMIT": None, "Cart": "class", "Sells": "interface", "Counts": "interface", "Size": "enum"}
            | {"total": "function", "twice": "function"}
            | dict.fromkeys(["Cart.items", "Cart.add", "Sells.sell", "Counts.count", "Size.cost"]),
        ),
        (
            ".rb",
            RUBY,
            {"Shop.Cart": "class", "Shop.Web.Router": "class", "Counts": "class", "total": "function"}
            | {f"Shop.Cart.{name}": None for name in ("LIMIT", "items", "add", "build", "<=>")}
            | dict.fromkeys(["Shop.Web.Router.go?", "Counts.Row", "Counts.Row.sum", "Counts.count"]),
        ),
        (
            ".swift",
            SWIFT,
            {"Cart": "class", "Point": "class", "Size": "enum", "Sells": "interface", "Id": "type", "total": "function"}
            | {f"Cart.{name}": None for name in ("items", "init", "add", "subscript", "==")}
            | dict.fromkeys(["Point.move", "Point.more", "Size.cost", "Sells.size", "Sells.sell"]),
        ),
        (
            ".scala",
            SCALA,
            {"Cart": "class", "Registry": "class", "Sells": "interface", "Size": "enum", "Id": "type", "Deep": "class"}
            | {"total": "function"}
            | dict.fromkeys(["Cart.max", "Cart.add", "Cart.add.inner", "Registry.find", "Sells.sell", "Size.cost"]),
        ),
        (
            ".lua",
            LUA,
            {"M": None, "add": "function", "add.inner": None, "M.load": "function", "M.sell": "method"}
            | {"M.run": "function", "Registry": None, "Registry.find": None},
        ),
        (
            ".ex",
            ELIXIR,
            {"Shop.Cart": "class", "Shop.Web.Router": "class", "Sells": "class"}
            | {f"Shop.Cart.{name}": None for name in ("init", "add", "secret", "twice")}
            | dict.fromkeys(["Shop.Web.Router.go", "Sells.sell"]),
        ),
        (
            ".hs",
            HASKELL,
            {"Cart": "class", "Id": "class", "Alias": "type", "Sells": "class", "Sells.sell": None}
            | {"add": "function", "<+>": "function"},
        ),
        (
            ".zig",
            ZIG,
            {"std": None, "Cart": "class", "Cart.add": None, "Size": "enum", "Size.cost": None}
            | {"List": "class", "List.init": None, "total": "function"},
        ),
        (
            ".sh",
            BASH,
            {"LIMIT": None, "OTHER": None, "add": "function", "add.inner": None, "total": "function"},
        ),
    ],
)
def test_definitions_of_other_languages_are_called_what_they_are(
    extension: str, text: str, kinds: dict[str, str | None]
) -> None:
    """Each definition with its kind; None where it lies in the chunk of another one."""
    chunks = chunks_of(extension, text)
    found = {symbol: None for chunk in chunks for symbol in chunk.symbols}
    found |= {chunk.symbol: chunk.symbol_kind for chunk in chunks if chunk.symbol in found}
    assert found == kinds
    cart = next((chunk for chunk in chunks if chunk.symbol and chunk.symbol.endswith("Cart")), None)
    assert cart is None or cart.doc in ("Holds items.", "Cart holds items.", None if extension == ".ex" else "")


@pytest.mark.parametrize(
    ("extension", "text", "name", "first", "signature"),
    [
        (".java", JAVA, "Cart.add", "  /** Adds one. */", "public <R> R add(T item) throws Full"),
        (".kt", KOTLIN, "Cart.add", "  /** Adds one. */", "override suspend fun <R> add(item: T): R"),
        (".php", PHP, "Cart.add", "    /** Adds one. */", "public static function add(Item $item): ?int"),
        (".rb", RUBY, "Shop.Cart.add", "    # Adds one.", "def add(item)"),
        (
            ".swift",
            SWIFT,
            "Cart.add",
            "    /// Adds one.",
            "open override func add(_ item: T) async throws -> Bool",
        ),
        (".scala", SCALA, "Cart.add", "  /** Adds one. */", "override def add[R](item: T)(implicit x: X): R"),
        (".lua", LUA, "add", "--- Adds one.", "local function add(item)"),
        (".ex", ELIXIR, "Shop.Cart.add", '  @doc """', "def add(cart, item) when is_integer(item)"),
        (".hs", HASKELL, "add", "-- | Adds one.", "add :: Int -> Int -> Int"),
        (".zig", ZIG, "Cart.add", "    /// Adds one.", "pub fn add(self: *Cart, item: u8) !void"),
        (".sh", BASH, "add", "# Adds one.", "add()"),
    ],
)
def test_a_function_goes_with_its_documentation_and_annotations(
    extension: str, text: str, name: str, first: str, signature: str
) -> None:
    # So small that each class falls apart.
    chunks = chunks_of(extension, text, sizes(symbol=40, minimum=1, overlap=10, chunk=400))
    add = next(chunk for chunk in chunks if chunk.symbol == name and chunk.symbol_kind in ("function", "method"))
    assert add.body.lstrip("\n").startswith(first) and add.doc == "Adds one." and add.signature == signature
    assert (add.symbol_kind == "method") == ("Cart." in name)


@pytest.mark.parametrize(
    ("extension", "text", "decorators"),
    [
        (".java", JAVA, {"Deprecated", "Named", "Override"}),
        (".kt", KOTLIN, {"Serializable", "JvmStatic", "Rule"}),
        (".swift", SWIFT, {"MainActor", "discardableResult"}),
        (".scala", SCALA, {"deprecated", "tailrec"}),
        (".ex", ELIXIR, set()),
    ],
)
def test_annotations_are_decorators(extension: str, text: str, decorators: set[str]) -> None:
    assert {name for chunk in chunks_of(extension, text) for name in chunk.decorators} == decorators


R = """
#' Adds numbers.
#'
#' @param x a number
#' @export
add <- function(x, y = "a(b") {
  s <- r"---(raw " ) ] )---"
  x + y # } no end
}

square = function(x)
  x^2

twice <- \\(x) x * 2
LIMIT <- 3
`my fun` <- function(...) NULL
Stack <- R6Class("Stack",
  public = list(
    #' Puts one on.
    push = function(x) {
      self$items <- c(self$items, x)
    },
    pop = function() NULL
  )
)
setClass("Person", representation(name = "character"))
setGeneric("area", function(shape) standardGeneric("area"))
setMethod("area", "Person", function(shape) {
  1
})
result <- twice(2) |>
  add(1)
print.thing <- function(x, ...) if (x) {
  1
} else {
  2
}
"""


def test_r_functions_and_classes_are_chunks() -> None:
    chunks = chunks_of(".r", R)
    add, square, twice, _, quoted, stack, person, area, method, _, printed = chunks
    assert (add.symbol, add.symbol_kind, add.doc, add.lang) == ("add", "function", "Adds numbers.", "r")
    assert add.signature == 'add <- function(x, y = "a(b")' and add.body.endswith("# } no end\n}")
    assert square.body == "square = function(x)\n  x^2" and twice.signature == "twice <- \\(x)"
    assert quoted.symbol == "my fun"
    assert (stack.symbol_kind, stack.symbols) == ("class", ("Stack", "Stack.push", "Stack.pop"))
    assert (person.symbol, area.symbol, area.symbol_kind) == ("Person", "area", "function")
    assert (method.symbol, method.symbol_kind) == ("area", "method")
    assert printed.symbol == "print.thing" and printed.body.endswith("} else {\n  2\n}")


@pytest.mark.parametrize("extension", LANGUAGES)
def test_a_file_that_is_no_code_is_split_as_text(extension: str) -> None:
    text = OPENINGS.get(extension, "")
    text += "\n\n".join(f"{n}) Dear ((( all, it's }} time ]]] to # @ say \\ §§ 'goodbye {n}" for n in range(40))
    chunked = split(extension, text)
    assert chunked.parse_failed and "blank lines" in chunked.warnings[0]
    assert {chunk.lang for chunk in chunked.chunks} == {LANGUAGES[extension].lang}
    assert_exact(text, chunked.chunks)


def test_carriage_returns_and_other_alphabets() -> None:
    text = 'const größe = "ü";\r\n/** Misst — 測る. */\r\nfunction größer測(ä) {\r\n  return ä; // 🙂\r\n}\r\n'
    module, function = split(".ts", text).chunks
    assert module.symbols == ("größe",)
    assert (function.symbol, function.signature, function.doc) == ("größer測", "function größer測(ä)", "Misst — 測る.")


@pytest.mark.parametrize(
    ("extension", "text"),
    [
        (".ts", "// Copyright 2026 Somebody\n// All rights reserved.\n"),
        (".go", "/* Licensed to you. */\n\n"),
        (".r", "# Copyright\n"),
        (".ts", ""),
        (".r", "\n \n"),
    ],
)
def test_a_file_that_says_nothing_has_no_chunks(extension: str, text: str) -> None:
    assert split(extension, text).chunks == []


def test_minified_code_is_cut_by_columns_and_names_nothing() -> None:
    text = "function f(a){return a}" * 3_000
    chunks = split(".js", text).chunks
    assert "".join(chunk.body for chunk in chunks) == text
    assert all(chunk.symbols == () for chunk in chunks)


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("nonsense", ["(", "{\n", "a=>", '"\\', "/*\n", "`${", 'r("', "@a\n", "export "])
def test_nonsense_takes_seconds(extension: str, nonsense: str) -> None:
    text = OPENINGS.get(extension, "") + nonsense * 1_000
    began = time.process_time()
    assert_exact(text, split(extension, text).chunks)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("extension", "nonsense", "times", "seconds"),
    [(".js", "/*\n", 8_000, 8), (".cpp", "/*\n", 2_000, 3), (".java", "List<", 20_000, 2), (".rs", "%w(", 3_000, 2)],
)
def test_recovery_from_errors_stops_before_its_time_grows_with_the_square_of_the_text(
    extension: str, nonsense: str, times: int, seconds: float
) -> None:
    # Without the limit of the bytes read (JavaScript) or of the reports (others), the parser takes twice as long or
    # more, and gigabytes of memory.
    text = nonsense * times
    began = time.process_time()
    chunked = split(extension, text)
    assert time.process_time() - began < seconds
    assert chunked.parse_failed
    assert_exact(text, chunked.chunks)


WORDS = [
    *"(){}[]<>;,:=@#'\"`\\/*\n \t\r\x00\ufeff\u2028é測🙂\ud800",
    *("class ", "function ", "export ", "const a = ", "=> ", "/** a */", "// b\n", "<- ", "namespace n ", "\n\n"),
    *(
        "struct s ",
        "fn f() ",
        "func f() ",
        "impl A ",
        "def f\n",
        "do\n",
        "end\n",
        "module M\n",
        "fun f() ",
        "object O ",
    ),
    *("-- a\n", "defmodule M do\n", '@doc "a"\n', "where\n", "f :: a\n", "@a ", "f() {\n", "$a = fn", "#if a\n"),
    *("R6Class(", 'r"(', "type T = ", "interface I ", "f = function(x) "),
]


@pytest.mark.parametrize("extension", EXTENSIONS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(parts=st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=60), small=st.booleans())
def test_any_text_is_chunked_whole_and_the_same_again(extension: str, parts: list[str], small: bool) -> None:
    text = OPENINGS.get(extension, "") + "".join(parts)
    chunking = sizes(symbol=40, minimum=5, overlap=10, chunk=60) if small else sizes(minimum=1)
    chunked = split(extension, text, chunking)
    if chunked.chunks:
        assert_exact(text, chunked.chunks)
    else:
        assert "copyright" in text.lower() or "licen" in text.lower() or not text.strip()
    assert split(extension, text, chunking) == chunked


def test_what_a_grammar_may_need_gigabytes_for_is_cut_like_text() -> None:
    # One step of the parser, inside of which nothing can stop it.
    nonsense = ("x" * 50 + "=>") * 5_000
    chunked = split(".java", nonsense)
    assert chunked.parse_failed
    assert_exact(nonsense, chunked.chunks)
