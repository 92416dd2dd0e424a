/** Regular expressions in RE2's syntax: `matches`, `find`, `findAll`. */
import { RE2JS } from 're2js'
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError } from '../types/errors.ts'
import type { Pattern } from '../../formats/patterns.ts'
import { compilePattern } from '../../formats/patterns.ts'
import type { Int } from '../types/integers.ts'
import { toIndex } from '../types/integers.ts'
import type { ListValue } from '../types/values.ts'
import { PlainList } from '../types/values.ts'

/**
 * Maximum number of cached patterns. Without a limit, a malicious rule could build many patterns at run time and exhaust the memory.
 */
const maxCached = 500

function cached<Compiled>(compile: (source: string) => Compiled): (source: string) => Compiled {
  const known = new Map<string, Compiled>()
  return (source) => {
    let compiled = known.get(source)
    if (compiled === undefined) {
      compiled = compile(source)
      if (known.size >= maxCached) known.clear()
      known.set(source, compiled)
    }
    return compiled
  }
}

const patternOf: (source: string) => Pattern = cached((source) => {
  try {
    return compilePattern(source)
  } catch (error) {
    throw new CelError(goMessage(error))
  }
})

const expressionOf: (source: string) => RE2JS = cached((source) => {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    throw new CelError(`Illegal regex: ${goMessage(error)}`)
  }
})

function goMessage(error: unknown): string {
  const message = (error as Error).message
  return message.startsWith('error parsing regexp') ? message : `error parsing regexp: ${message}`
}

/** Returns true when RE2 accepts the pattern. */
export function isPattern(source: string): boolean {
  try {
    patternOf(source)
    return true
  } catch {
    return false
  }
}

/** Compiles a constant pattern once. The returned function reports whether a string matches the pattern. */
export function matcherOf(source: string): (text: string) => boolean {
  const pattern = patternOf(source)
  return (text) => pattern.test(text)
}

function matches(text: string, source: string): boolean {
  return patternOf(source).test(text)
}

function find(text: string, source: string): string {
  const matcher = expressionOf(source).matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

function findAll(text: string, source: string, limit: Int = -1): ListValue {
  const found: string[] = []
  const matcher = expressionOf(source).matcher(text)
  const most = toIndex(limit)
  let end = -1
  while ((most < 0 || found.length < most) && matcher.find()) {
    const part = matcher.group() ?? ''
    // Go skips an empty match that directly follows another match.
    if (part !== '' || matcher.start() !== end) found.push(part)
    end = matcher.end()
  }
  return new PlainList(found)
}

export const expressions: readonly Overload[] = [
  define('matches(string, string) -> bool', 'matches', matches),
  define('string::matches(string) -> bool', 'matches_string', matches),
  define('string::find(string) -> string', 'string_find_string', find),
  define('string::findAll(string) -> list<string>', 'string_find_all_string', (text: string, source: string) => findAll(text, source)),
  define('string::findAll(string, int) -> list<string>', 'string_find_all_string_int', findAll),
]
