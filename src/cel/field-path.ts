/**
 * Parses the `fieldPath` of a rule, such as `.spec.a['b.c']` (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel: ValidFieldPath`).
 * When an object violates the rule, the error is reported for the field at this path. The path is relative to the schema node that has the
 * rule.
 */
import type { StructuralSchema } from '../api/structural-schema.ts'
import { fieldChildPath } from '../api/field-path.ts'

const quotedEscapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
}

/** Returns a `fieldPath` in the notation of field errors; undefined when the syntax is invalid, or the schema has no such field. */
export function normalizeFieldPath(path: string, schema: StructuralSchema): string | undefined {
  const tokens = path.match(/'(?:\\.|[^'\\])*'|[.[\]]|[^.[\]']+[^.[\]]*/gs) ?? []
  if (tokens.join('') !== path) return undefined
  let result = ''
  let at: StructuralSchema | undefined = schema
  for (let index = 0; index < tokens.length;) {
    const isBracket = tokens[index] === '['
    if (!isBracket && tokens[index] !== '.') return undefined
    const name = isBracket ? unquote(tokens[index + 1]) : tokens[index + 1]
    if (name === undefined || (isBracket && tokens[index + 2] !== ']')) return undefined
    index += isBracket ? 3 : 2
    const { properties, additionalProperties }: StructuralSchema = at
    if (Object.keys(properties ?? {}).length > 0) {
      result = fieldChildPath(result, name)
      at = Object.hasOwn(properties!, name) ? properties![name] : undefined
    } else {
      result += `[${name}]`
      // The schema `additionalProperties: true` describes no fields of the value. A path that continues below the value is therefore
      // invalid.
      at = typeof additionalProperties === 'boolean' ? {} : additionalProperties
    }
    if (at === undefined) return undefined
  }
  return result === '' ? undefined : result
}

function unquote(token: string | undefined): string | undefined {
  if (token === undefined || token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) return undefined
  let valid = true
  const text = token.slice(1, -1).replace(/\\(.)/gs, (_, letter: string) => {
    const character = quotedEscapes[letter]
    if (character === undefined) valid = false
    return character ?? ''
  })
  return valid ? text : undefined
}
