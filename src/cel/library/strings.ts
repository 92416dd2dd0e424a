/**
 * Functions on strings: CEL's standard functions and those of version 2 of cel-go's strings extension, which Kubernetes enables. Indexes
 * count code points.
 */
import { quoteText } from '../types/quote.ts'
import type { Overload } from './declarations.ts'
import { define } from './declarations.ts'
import { CelError } from '../types/errors.ts'
import type { Int } from '../types/integers.ts'
import { toIndex } from '../types/integers.ts'
import type { ListValue } from '../types/values.ts'
import { PlainList } from '../types/values.ts'
import { trimSpace } from '../types/trim-space.ts'
import { formatText } from './format-text.ts'

function outOfRange(index: Int): CelError {
  return new CelError(`index out of range: ${index}`)
}

function charAt(text: string, index: Int): string {
  const characters = [...text]
  const at = toIndex(index)
  if (at < 0 || at > characters.length) throw outOfRange(index)
  return characters[at] ?? ''
}

function startsAt(characters: readonly string[], part: readonly string[], at: number): boolean {
  return part.every((character, index) => characters[at + index] === character)
}

function indexOf(text: string, part: string, offset: Int = 0): Int {
  if (part === '') return offset
  const start = toIndex(offset)
  if (start < 0) throw outOfRange(offset)
  // If the string does not contain the part, the native `includes` is faster than the code below. The native `indexOf` cannot be used,
  // because it counts UTF-16 units.
  if (!text.includes(part)) return -1
  const [characters, wanted] = [[...text], [...part]]
  for (let at = start; at <= characters.length - wanted.length; at += 1) if (startsAt(characters, wanted, at)) return at
  return -1
}

function lastIndexOf(text: string, part: string): Int {
  const { length } = [...text]
  if (part === '') return length
  return length < [...part].length ? -1 : lastIndexFrom(text, part, length - 1)
}

function lastIndexFrom(text: string, part: string, offset: Int): Int {
  if (part === '') return offset
  const start = toIndex(offset)
  if (start < 0) throw outOfRange(offset)
  const [characters, wanted] = [[...text], [...part]]
  if (start >= characters.length) return -1
  for (let at = Math.min(start, characters.length - wanted.length); at >= 0; at -= 1) if (startsAt(characters, wanted, at)) return at
  return -1
}

/**
 * Replaces at most `limit` occurrences of `old`; a negative limit means no limit. An empty `old` occurs before each character and at the
 * end.
 */
function replace(text: string, old: string, replacement: string, limit: Int = -1): string {
  const most = toIndex(limit)
  if (most < 0)
    return old === ''
      ? replacement + [...text].map((character) => character + replacement).join('')
      : text.replaceAll(old, () => replacement)
  if (old === '') {
    const characters = [...text]
    const replaced = characters.map((character, index) => (index < most ? replacement : '') + character).join('')
    return most > characters.length ? replaced + replacement : replaced
  }
  let result = ''
  let from = 0
  for (let count = 0; count < most; count += 1) {
    const at = text.indexOf(old, from)
    if (at < 0) break
    result += text.slice(from, at) + replacement
    from = at + old.length
  }
  return result + text.slice(from)
}

function split(text: string, separator: string, limit: Int = -1): ListValue {
  const most = toIndex(limit)
  const parts = separator === '' ? [...text] : text.split(separator)
  if (most < 0 || parts.length <= most) return new PlainList(parts)
  if (most === 0) return new PlainList([])
  return new PlainList([...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)])
}

function substring(text: string, start: Int, end?: Int): string {
  const characters = [...text]
  const from = toIndex(start)
  const to = end === undefined ? characters.length : toIndex(end)
  if (end !== undefined && start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  if (from < 0 || from > characters.length) throw outOfRange(start)
  if (end !== undefined && (to < 0 || to > characters.length)) throw outOfRange(end)
  return characters.slice(from, to).join('')
}

function join(list: ListValue, separator = ''): string {
  const parts: string[] = []
  for (const item of list) {
    if (typeof item !== 'string') throw new CelError(`join: invalid input: ${String(item)}`)
    parts.push(item)
  }
  return parts.join(separator)
}

export const strings: readonly Overload[] = [
  define('string::contains(string) -> bool', 'contains_string', (text: string, part: string) => text.includes(part)),
  define('string::endsWith(string) -> bool', 'ends_with_string', (text: string, end: string) => text.endsWith(end)),
  define('string::startsWith(string) -> bool', 'starts_with_string', (text: string, start: string) => text.startsWith(start)),
  define('string::charAt(int) -> string', 'string_char_at_int', charAt),
  define('string::indexOf(string) -> int', 'string_index_of_string', (text: string, part: string) => indexOf(text, part)),
  define('string::indexOf(string, int) -> int', 'string_index_of_string_int', indexOf),
  define('string::lastIndexOf(string) -> int', 'string_last_index_of_string', lastIndexOf),
  define('string::lastIndexOf(string, int) -> int', 'string_last_index_of_string_int', lastIndexFrom),
  define('string::lowerAscii() -> string', 'string_lower_ascii', (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  define('string::upperAscii() -> string', 'string_upper_ascii', (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase())),
  define('string::replace(string, string) -> string', 'string_replace_string_string', (text: string, old: string, replacement: string) =>
    replace(text, old, replacement),
  ),
  define('string::replace(string, string, int) -> string', 'string_replace_string_string_int', replace),
  define('string::split(string) -> list<string>', 'string_split_string', (text: string, separator: string) => split(text, separator)),
  define('string::split(string, int) -> list<string>', 'string_split_string_int', split),
  define('string::substring(int) -> string', 'string_substring_int', (text: string, start: Int) => substring(text, start)),
  define('string::substring(int, int) -> string', 'string_substring_int_int', substring),
  define('string::trim() -> string', 'string_trim', trimSpace),
  define('string::format(list<dyn>) -> string', 'string_format', formatText),
  define('strings.quote(string) -> string', 'strings_quote', quoteText),
  define('list<string>::join() -> string', 'list_join', (list: ListValue) => join(list)),
  define('list<string>::join(string) -> string', 'list_join_string', join),
]
