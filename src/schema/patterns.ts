/** `pattern`: regular expressions with the meaning that Go's RE2 gives them, in time linear in the text. */
import { RE2JS } from 're2js'

export interface Pattern {
  readonly source: string
  test(text: string): boolean
}

/**
 * Compiles a pattern. RE2 runs in re2js; a pattern that means the same to the native engine, and cannot make it backtrack
 * without end, runs there, ten times as fast.
 *
 * @throws when RE2 does not accept the pattern.
 */
export function compilePattern(source: string): Pattern {
  const expression = isSimple(source) ? new RegExp(source, 'u') : RE2JS.compile(source)
  return { source, test: (text) => expression.test(text) }
}

/** Why RE2 does not accept a pattern; undefined when it does. */
export function patternProblem(source: string): string | undefined {
  try {
    RE2JS.compile(source)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** How a backtracking engine may fare with a part of a pattern. */
interface Effort {
  /** In how many ways the part can be tried at one place, repetition without end not counted. */
  readonly ways: number
  /** How many characters it looks at on each. */
  readonly width: number
  /** How many repetitions without end it contains. */
  readonly unbounded: number
}

/** Steps that a native engine may take at one place of the text, or in all when it cannot try more than one. */
const maxStepsPerPlace = 256
const maxSteps = 16_384

const nothing: Effort = { ways: 1, width: 0, unbounded: 0 }

/**
 * Whether RE2 and the native engine agree on a pattern and the native engine is linear on it. Conservative: only ASCII
 * literals, plain classes, `\d` and `\w`, groups that do not repeat, and at most one repetition without end, which only an
 * anchor in front keeps from being tried anew at each place.
 */
export function isSimple(source: string): boolean {
  const anchored = source.startsWith('^')
  const body = source.slice(anchored ? 1 : 0, source.endsWith('$') && !source.endsWith('\\$') ? -1 : undefined)
  const parser = { text: body, at: 0 }
  const effort = parseSequence(parser)
  if (effort === undefined || parser.at !== body.length) return false
  const steps = effort.ways * effort.width
  if (effort.unbounded === 0) return steps <= (anchored ? maxSteps : maxStepsPerPlace)
  return anchored && effort.unbounded === 1 && steps <= maxStepsPerPlace
}

interface Parser {
  readonly text: string
  at: number
}

// Characters that mean themselves to both engines, in and outside of classes.
const literal = /[A-Za-z0-9_ ,:;/@%=<>!&~"'`#-]/y
const escape = /\\[.+*?()[\]{}|^$\\/dw]/y
const characterClass = /\[-?(?:(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9])|[A-Za-z0-9_ .,:;/@+*%=<>!~"'`#$?(){}|]|\\[-./dw])+-?\]/y
const quantifier = /[*+?]|\{(\d{1,3})(,(\d{1,3})?)?\}/y

function take(parser: Parser, expression: RegExp): RegExpExecArray | undefined {
  expression.lastIndex = parser.at
  const match = expression.exec(parser.text)
  if (match === null) return undefined
  parser.at += match[0].length
  return match
}

/** Consumes what it understands; the caller sees by the position whether that was everything. */
function parseSequence(parser: Parser): Effort | undefined {
  let total = nothing
  while (parser.at < parser.text.length && !'|)'.includes(parser.text[parser.at]!)) {
    const group = parser.text[parser.at] === '('
    const atom = group ? parseGroup(parser) : parseCharacter(parser)
    if (atom === undefined) return undefined
    const repeated = repeat(atom, group, take(parser, quantifier))
    // A second quantifier would be a lazy or a possessive one.
    if (repeated === undefined || take(parser, quantifier) !== undefined) return undefined
    total = { ways: total.ways * repeated.ways, width: total.width + repeated.width, unbounded: total.unbounded + repeated.unbounded }
  }
  return total
}

function parseCharacter(parser: Parser): Effort | undefined {
  const match = take(parser, literal) ?? take(parser, escape) ?? take(parser, characterClass)
  return match === undefined ? undefined : { ways: 1, width: 1, unbounded: 0 }
}

function parseGroup(parser: Parser): Effort | undefined {
  parser.at += parser.text.startsWith('(?:', parser.at) ? 3 : 1
  let total: Effort = { ways: 0, width: 0, unbounded: 0 }
  for (;;) {
    const before = parser.at
    const option = parseSequence(parser)
    if (option === undefined || parser.at === before) return undefined
    total = {
      ways: total.ways + option.ways,
      width: Math.max(total.width, option.width),
      unbounded: total.unbounded + option.unbounded,
    }
    const next = parser.text[parser.at]
    parser.at += 1
    if (next === ')') return total
    if (next !== '|') return undefined
  }
}

function repeat(atom: Effort, group: boolean, match: RegExpExecArray | undefined): Effort | undefined {
  if (match === undefined) return atom
  if (match[0] === '?') return { ...atom, ways: atom.ways + 1 }
  if (group) return undefined
  if (match[0] === '*' || match[0] === '+') return { ways: 1, width: 1, unbounded: 1 }
  const least = Number(match[1])
  if (match[2] === ',') return { ways: 1, width: least + 1, unbounded: 1 }
  const most = match[2] === undefined ? least : Number(match[3])
  return most < least ? undefined : { ways: most - least + 1, width: most, unbounded: 0 }
}
