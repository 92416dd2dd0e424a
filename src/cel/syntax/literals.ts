/** Parses literals: numbers, strings and bytes. */
import { CelSyntaxError } from './issues.ts'
import { maxInt, maxUint, minInt, toInt } from '../types/integers.ts'
import type { Token } from './lexer.ts'
import type { Value } from '../types/values.ts'
import { Double, Uint } from '../types/values.ts'

export function parseNumber({ kind, text, offset }: Token): Value {
  if (kind === 'float') {
    const value = Number(text)
    if (!Number.isFinite(value)) throw new CelSyntaxError(offset, 'invalid double literal')
    return new Double(value)
  }
  const negative = text.startsWith('-')
  const digits = text.slice(negative ? 1 : 0, kind === 'uint' ? -1 : undefined)
  const value = negative ? -BigInt(digits) : BigInt(digits)
  if (kind === 'uint') {
    if (value > maxUint) throw new CelSyntaxError(offset, 'invalid uint literal')
    return new Uint(value)
  }
  if (value < minInt || value > maxInt) throw new CelSyntaxError(offset, 'invalid int literal')
  return toInt(value)
}

const simpleEscapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '\\': 92,
  "'": 39,
  '"': 34,
  '`': 96,
  '?': 63,
}

export function parseString(text: string, offset: number): string {
  const { content, raw } = unquote(text)
  if (raw || !content.includes('\\')) return content
  const codes: number[] = []
  for (const { code } of unescape(content)) {
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new CelSyntaxError(offset, 'invalid unicode code point')
    codes.push(code)
  }
  return codes.map((code) => String.fromCodePoint(code)).join('')
}

/**
 * Parses a bytes literal. If the literal is not raw, each hexadecimal or octal escape sequence, e.g. `\x41` or `\101`, stands for a single
 * byte. All other characters are encoded as UTF-8.
 *
 * @throws {CelSyntaxError} if a literal that is not raw contains a Unicode escape sequence (`\u` or `\U`).
 */
export function parseBytes(text: string, offset: number): Uint8Array {
  const { content, raw } = unquote(text.slice(1))
  if (raw) return new TextEncoder().encode(content)
  const bytes: number[] = []
  for (const { code, escape } of unescape(content)) {
    if (escape === 'unicode') throw new CelSyntaxError(offset, 'unable to unescape string')
    if (escape === 'byte') bytes.push(code)
    else bytes.push(...new TextEncoder().encode(String.fromCodePoint(code)))
  }
  return Uint8Array.from(bytes)
}

function unquote(text: string): { content: string; raw: boolean } {
  const normal = text.replace(/\r\n?/g, '\n')
  const raw = /^[rR]/.test(normal)
  const quoted = raw ? normal.slice(1) : normal
  const width = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''")) ? 3 : 1
  return { content: quoted.slice(width, -width), raw }
}

interface Character {
  readonly code: number
  readonly escape: 'none' | 'byte' | 'unicode'
}

/** Decodes escape sequences in a string or bytes literal. The lexer has already checked the syntax of the escape sequences. */
function* unescape(content: string): Generator<Character> {
  for (let at = 0; at < content.length;) {
    if (content[at] !== '\\') {
      const code = content.codePointAt(at)!
      yield { code, escape: 'none' }
      at += code > 0xffff ? 2 : 1
      continue
    }
    const letter = content[at + 1]!
    const simple = simpleEscapes[letter]
    if (simple !== undefined) {
      yield { code: simple, escape: 'none' }
      at += 2
    } else if (letter >= '0' && letter <= '3') {
      yield { code: Number.parseInt(content.slice(at + 1, at + 4), 8), escape: 'byte' }
      at += 4
    } else {
      const digits = letter === 'u' ? 4 : letter === 'U' ? 8 : 2
      yield { code: Number.parseInt(content.slice(at + 2, at + 2 + digits), 16), escape: digits === 2 ? 'byte' : 'unicode' }
      at += 2 + digits
    }
  }
}
