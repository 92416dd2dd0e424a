/**
 * Compiles the regular expressions of the schema keyword `pattern`, with the semantics of Go's RE2. Matching takes time that is linear in
 * the length of the string.
 */
import { RE2JS } from 're2js'

export interface Pattern {
  readonly source: string
  test(text: string): boolean
}

/**
 * Compiles a pattern for RE2, as implemented by re2js. A pattern that `isSimple` accepts is compiled for the JavaScript engine instead,
 * because this engine is ten times as fast.
 *
 * @throws when RE2 rejects the pattern.
 */
export function compilePattern(source: string): Pattern {
  const expression = isSimple(source) ? new RegExp(source, 'u') : RE2JS.compile(source)
  return { source, test: (text) => expression.test(text) }
}

/** Returns RE2's error message for a pattern; undefined if the pattern is valid. */
export function patternProblem(source: string): string | undefined {
  try {
    RE2JS.compile(source)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** The worst-case effort of a backtracking engine for one part of a pattern. */
interface Effort {
  /** Number of ways to match the part at one position of the string. An unbounded repetition counts as one way. */
  readonly ways: number
  /**
   * Number of characters in the longest match of the part. In this number, `x*` and `x+` count as one character, and `x{n,}` counts as n +
   * 1 characters.
   */
  readonly width: number
  /** Number of unbounded repetitions (`*`, `+`, `{n,}`) in the part. */
  readonly unbounded: number
}

/**
 * Maximum number of steps (`ways` × `width`) of a simple pattern that is not anchored, or has an unbounded repetition. For such a pattern,
 * the JavaScript engine may take this number of steps at each position of the string.
 */
const maxStepsPerPlace = 256
/**
 * Maximum number of steps of a simple pattern that is anchored and has no unbounded repetition. The JavaScript engine tries such a pattern
 * at only one position.
 */
const maxSteps = 16_384

const nothing: Effort = { ways: 1, width: 0, unbounded: 0 }

/**
 * Returns true if a pattern has the same meaning in RE2 and the JavaScript engine, and takes linear time in the JavaScript engine. The
 * check is conservative: it accepts only ASCII literals, simple character classes, `\d`, `\w`, groups without repetition, and at most one
 * unbounded repetition.
 *
 * A pattern with an unbounded repetition must begin with `^`. Otherwise, the engine would try the pattern at each position of the string,
 * which takes quadratic time.
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

// Characters that are literals in both engines, outside of character classes.
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

/** Parses from the current position up to a `|`, a `)` or the end of the pattern. Returns undefined when the pattern is not simple. */
function parseSequence(parser: Parser): Effort | undefined {
  let total = nothing
  while (parser.at < parser.text.length && !'|)'.includes(parser.text[parser.at]!)) {
    const group = parser.text[parser.at] === '('
    const atom = group ? parseGroup(parser) : parseCharacter(parser)
    if (atom === undefined) return undefined
    const repeated = repeat(atom, group, take(parser, quantifier))
    // A second quantifier, as in `a*?` or `a*+`, is rejected in the next iteration, because `parseCharacter` accepts no quantifiers.
    if (repeated === undefined) return undefined
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
