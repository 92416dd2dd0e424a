/** Parses an expression: builds its syntax tree according to CEL's grammar and operator precedence. */
import type { Call, Expr, MapEntry } from './ast.ts'
import { keywords, products, relations, reserved, sums } from './grammar.ts'
import type { Issue } from './issues.ts'
import { CelSyntaxError } from './issues.ts'
import type { Token } from './lexer.ts'
import { tokenize } from './lexer.ts'
import { parseBytes, parseNumber, parseString } from './literals.ts'
import { expandMacro } from './macros.ts'
import { missing, noAlternative, startOfExpression, unexpected } from './syntax-errors.ts'
import { maxExpressionCharacters, maxExpressionDepth } from '../limits.ts'

/**
 * Parses an expression and expands its macros.
 *
 * @throws {CelSyntaxError} when the expression is invalid or too long. If the expression is too long, `issues` contains only this error.
 *   Otherwise, `issues` contains an entry for each invalid token, an entry for each error after which parsing continued, and an entry for
 *   the error that stopped the parser, if there is one.
 */
export function parse(source: string): Expr {
  const size = [...source].length
  if (size > maxExpressionCharacters) {
    throw new CelSyntaxError(undefined, `expression code point size exceeds limit: size: ${size}, limit ${maxExpressionCharacters}`)
  }
  const { tokens, issues } = tokenize(source)
  try {
    const expr = new Parser(tokens, issues).parse()
    if (issues.length === 0) return expr
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    issues.push(...error.issues)
  }
  throw new CelSyntaxError(issues)
}

class Parser {
  readonly #tokens: readonly Token[]
  readonly #issues: Issue[]
  #at = 0
  #depth = 0
  /**
   * Number of selections, method calls and indexes in the current chain so far. At the end of `a.b[0].c`, the number is 3. A chain inside
   * an index or a method call continues the count of the outer chain. In `a.b[c.d]`, the number is 2 at `c` and 3 at `d`.
   */
  #steps = 0

  /** @param issues receives the errors after which parsing continues. */
  constructor(tokens: readonly Token[], issues: Issue[]) {
    this.#tokens = tokens
    this.#issues = issues
  }

  parse(): Expr {
    const expr = this.#expression()
    if (this.#token.kind !== 'end') this.#unexpected('<EOF>')
    return expr
  }

  /**
   * Returns the result of `make`. If `make` throws a syntax error, the error is added to the issues, and a placeholder is returned. Parsing
   * then continues.
   */
  #orReport(make: () => Expr): Expr {
    try {
      return make()
    } catch (error) {
      if (!(error instanceof CelSyntaxError)) throw error
      this.#issues.push(...error.issues)
      return { kind: 'literal', offset: error.issues[0]?.offset ?? this.#token.offset, value: null }
    }
  }

  get #token(): Token {
    return this.#tokens[this.#at]!
  }

  #isSymbol(text: string): boolean {
    return this.#token.text === text && this.#token.kind === 'symbol'
  }

  /** If the current token is the symbol `text`, consumes and returns the token. Otherwise, returns undefined. */
  #take(text: string): Token | undefined {
    if (!this.#isSymbol(text)) return undefined
    this.#at += 1
    return this.#tokens[this.#at - 1]
  }

  #expect(text: string, expecting = `'${text}'`): Token {
    const token = this.#take(text)
    if (token !== undefined) return token
    throw expecting === `'${text}'`
      ? missing(this.#token, this.#tokens[this.#at + 1], text)
      : unexpected(this.#token, this.#tokens[this.#at + 1], expecting)
  }

  #unexpected(expecting: string): never {
    throw unexpected(this.#token, this.#tokens[this.#at + 1], expecting)
  }

  #expression(): Expr {
    this.#depth += 1
    if (this.#depth > maxExpressionDepth) throw new CelSyntaxError(undefined, `expression recursion limit exceeded: ${maxExpressionDepth}`)
    const condition = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()))
    const op = this.#take('?')
    let expr = condition
    if (op !== undefined) {
      const whenTrue = this.#logical('||', '_||_', () => this.#logical('&&', '_&&_', () => this.#relation()))
      this.#expect(':')
      expr = call(op.offset, '_?_:_', [condition, whenTrue, this.#expression()])
    }
    this.#depth -= 1
    return expr
  }

  /**
   * Parses operands that are joined by `&&` or `||`. The result is a balanced tree, so a long chain of operands does not exceed the maximum
   * nesting depth (`cel-go/parser: helper.go, balancedTree`).
   */
  #logical(symbol: string, name: string, operand: () => Expr): Expr {
    const terms = [operand()]
    const offsets: number[] = []
    for (let op = this.#take(symbol); op !== undefined; op = this.#take(symbol)) {
      offsets.push(op.offset)
      terms.push(operand())
    }
    const balanced = (low: number, high: number): Expr => {
      const middle = (low + high + 1) >> 1
      const left = middle === low ? terms[middle]! : balanced(low, middle - 1)
      const right = middle === high ? terms[middle + 1]! : balanced(middle + 1, high)
      return call(offsets[middle]!, name, [left, right])
    }
    return offsets.length === 0 ? terms[0]! : balanced(0, offsets.length - 1)
  }

  #relation(): Expr {
    return this.#binary(relations, () => this.#binary(sums, () => this.#binary(products, () => this.#unary())))
  }

  #binary(operators: ReadonlyMap<string, string>, operand: () => Expr): Expr {
    let left = operand()
    for (;;) {
      const { kind, text, offset } = this.#token
      const name = kind === 'symbol' || text === 'in' ? operators.get(text) : undefined
      if (name === undefined) return left
      this.#at += 1
      left = call(offset, name, [left, operand()])
    }
  }

  #unary(): Expr {
    for (const [symbol, name] of [
      ['!', '!_'],
      ['-', '-_'],
    ] as const) {
      if (!this.#isSymbol(symbol) || this.#isNegativeNumber()) continue
      const { offset } = this.#token
      let count = 0
      while (this.#take(symbol) !== undefined) count += 1
      const operand = this.#member()
      return count % 2 === 0 ? operand : call(offset, name, [operand])
    }
    return this.#member()
  }

  #isNegativeNumber(): boolean {
    const next = this.#tokens[this.#at + 1]
    return this.#isSymbol('-') && (next?.kind === 'int' || next?.kind === 'float')
  }

  #member(): Expr {
    let expr = this.#primary()
    const steps = this.#steps
    for (;;) {
      const dot = this.#take('.')
      const bracket = dot === undefined ? this.#take('[') : undefined
      if (dot === undefined && bracket === undefined) {
        this.#steps = steps
        return expr
      }
      this.#steps += 1
      if (this.#steps > maxExpressionDepth) throw new CelSyntaxError(undefined, 'max recursion depth exceeded')
      if (dot !== undefined) expr = this.#afterDot(expr, dot.offset)
      else if (bracket !== undefined) {
        const optional = this.#take('?') !== undefined
        const index = this.#expression()
        this.#expect(']')
        expr = call(bracket.offset, optional ? '_[?_]' : '_[_]', [expr, index])
      }
    }
  }

  #afterDot(operand: Expr, offset: number): Expr {
    const optional = this.#take('?') !== undefined
    const name = this.#identifier()
    if (optional) return call(offset, '_?._', [operand, { kind: 'literal', offset: name.offset, value: name.text }])
    const open = this.#take('(')
    if (open === undefined) return { kind: 'select', offset, operand, field: name.text, testOnly: false }
    const args = this.#list(')', () => this.#expression(), false)
    return this.#orReport(() => expandMacro(call(open.offset, name.text, args, operand)))
  }

  #identifier(): Token {
    const token = this.#token
    if (token.kind === 'quoted') throw new CelSyntaxError(token.offset, "unsupported syntax: '`'")
    if (token.kind !== 'identifier' || keywords.has(token.text)) {
      throw noAlternative(token)
    }
    this.#at += 1
    return token
  }

  #primary(): Expr {
    const { kind, text, offset } = this.#token
    if (this.#isNegativeNumber()) {
      this.#at += 2
      const number = this.#tokens[this.#at - 1]!
      return this.#orReport(() => ({ kind: 'literal', offset, value: parseNumber({ ...number, text: `-${number.text}`, offset }) }))
    }
    if (kind === 'identifier') return this.#named('')
    if (kind === 'int' || kind === 'uint' || kind === 'float' || kind === 'string' || kind === 'bytes') {
      const token = this.#token
      this.#at += 1
      return this.#orReport(() => {
        const value = kind === 'string' ? parseString(text, offset) : kind === 'bytes' ? parseBytes(text, offset) : parseNumber(token)
        return { kind: 'literal', offset, value }
      })
    }
    if (this.#take('(') !== undefined) {
      const expr = this.#expression()
      this.#expect(')')
      return expr
    }
    if (this.#take('[') !== undefined) return this.#listLiteral(offset)
    if (this.#take('{') !== undefined) return { kind: 'map', offset, entries: this.#list('}', () => this.#mapEntry(), true) }
    if (this.#take('.') === undefined) return this.#unexpected(startOfExpression)
    const name = this.#token
    if (name.kind === 'identifier' && !keywords.has(name.text)) return this.#named('.')
    if (name.kind === 'identifier' && name.text !== 'in') return this.#unexpected('IDENTIFIER')
    throw noAlternative(name)
  }

  /** Parses a constant, a variable, a global call or a message literal. */
  #named(dot: '' | '.'): Expr {
    const { text, offset } = this.#token
    if (dot === '' && keywords.has(text)) {
      if (text === 'in') this.#unexpected(startOfExpression)
      this.#at += 1
      return { kind: 'literal', offset, value: text === 'null' ? null : text === 'true' }
    }
    this.#at += 1
    const struct = this.#structAhead()
    if (struct !== undefined) return this.#struct(dot + struct)
    if (reserved.has(text)) throw new CelSyntaxError(offset, `reserved identifier: ${text}`)
    const open = this.#take('(')
    if (open === undefined) return { kind: 'ident', offset, name: dot + text }
    const args = this.#list(')', () => this.#expression(), false)
    return this.#orReport(() => expandMacro(call(open.offset, dot + text, args)))
  }

  /**
   * Returns the type name of a message literal, such as `a.b.C` in `a.b.C {`, and consumes the tokens of the name. Returns undefined if the
   * tokens do not form the beginning of a message literal.
   */
  #structAhead(): string | undefined {
    let at = this.#at
    let name = this.#tokens[at - 1]!.text
    while (this.#tokens[at]!.text === '.' && this.#tokens[at + 1]?.kind === 'identifier') {
      name += `.${this.#tokens[at + 1]!.text}`
      at += 2
    }
    if (this.#tokens[at]!.text !== '{' || this.#tokens[at]!.kind !== 'symbol') return undefined
    this.#at = at
    return name
  }

  #struct(typeName: string): Expr {
    const { offset } = this.#expect('{')
    const fields = this.#list(
      '}',
      () => {
        this.#take('?')
        const name = this.#identifier().text
        this.#expect(':')
        return { name, value: this.#expression() }
      },
      true,
    )
    return { kind: 'struct', offset, typeName, fields }
  }

  #listLiteral(offset: number): Expr {
    const optionals: number[] = []
    let index = 0
    const elements = this.#list(
      ']',
      () => {
        if (this.#take('?') !== undefined) optionals.push(index)
        index += 1
        return this.#expression()
      },
      true,
    )
    return { kind: 'list', offset, elements, optionals }
  }

  #mapEntry(): MapEntry {
    const optional = this.#take('?') !== undefined
    const key = this.#expression()
    this.#expect(':')
    return { key, value: this.#expression(), optional }
  }

  /**
   * Parses items that are separated by commas, and the symbol `end` that follows the items. If `trailingComma` is true, a comma may precede
   * `end`, even if there are no items.
   */
  #list<Item>(end: string, item: () => Item, trailingComma: boolean): Item[] {
    const items: Item[] = []
    if (trailingComma && this.#isSymbol(',') && this.#tokens[this.#at + 1]?.text === end) this.#at += 1
    if (this.#take(end) !== undefined) return items
    for (;;) {
      items.push(item())
      const comma = this.#take(',')
      if (comma === undefined || (trailingComma && this.#isSymbol(end))) {
        this.#expect(end, comma === undefined ? `{'${end}', ','}` : undefined)
        return items
      }
    }
  }
}

function call(offset: number, name: string, args: readonly Expr[], target?: Expr): Call {
  return { kind: 'call', offset, name, target, args }
}
