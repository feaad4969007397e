/** A comment of Python, a long string, which may not end, or a short one. */
export const TOKENS = /#.*|("""|''')[\s\S]*?(?:\1|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/g;
