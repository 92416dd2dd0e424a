/**
 * Writes JSON values as YAML. The OpenAPI v2 document in protobuf contains each extension of a schema and each value of an enumeration as
 * YAML. The document has many thousands of such values, so the functions of this file must be fast.
 */
import type { JsonValue } from '../../api/json.ts'
import { isObject, stringifyJson } from '../../api/json.ts'

/** A string needs no quotes in YAML if the string matches `plain` and does not match `reserved`. */
const plain = /^[A-Za-z](?:[\w ./()-]*[\w./()-])?$/
/** Matches strings that YAML 1.1 would read as another type. */
const reserved = /^(?:y|n|yes|no|on|off|true|false|null)$/i
/** Matches characters that are valid in a JSON string, but not in YAML. */
const unprintable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g
/** Values at this depth and at greater depths are written as JSON, which is valid YAML. This limits the indentation of nested values. */
const maxDepth = 8

/** Returns a value as YAML, with a line break at its end. */
export function yamlValue(value: JsonValue): string {
  const lines: string[] = []
  writeLines(value, '', '', lines)
  return `${lines.join('\n')}\n`
}

/**
 * Adds the lines of a value.
 *
 * @param first the beginning of the first line.
 * @param indent the beginning of the other lines.
 */
function writeLines(value: JsonValue, first: string, indent: string, lines: string[]): void {
  if (!isBlock(value, indent)) {
    lines.push(first + inlineText(value))
    return
  }
  let start = first
  const entries = Array.isArray(value) ? value.map((item) => [undefined, item] as const) : Object.entries(value)
  for (const [name, item = null] of entries) {
    if (name === undefined) writeLines(item, `${start}- `, `${indent}  `, lines)
    else if (isBlock(item, indent)) {
      lines.push(`${start}${stringText(name)}:`)
      writeLines(item, `${indent}  `, `${indent}  `, lines)
    } else lines.push(`${start}${stringText(name)}: ${inlineText(item)}`)
    start = indent
  }
}

/**
 * Returns true for a value that is written in the block style of YAML, with at least one line for each item or field. Any other value is
 * written on a single line.
 */
function isBlock(value: JsonValue, indent: string): value is JsonValue[] | Readonly<Record<string, JsonValue>> {
  if (indent.length >= maxDepth * 2) return false
  return Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0
}

function inlineText(value: JsonValue): string {
  return typeof value === 'string' ? stringText(value) : escaped(stringifyJson(value))
}

function stringText(text: string): string {
  return plain.test(text) && !reserved.test(text) ? text : escaped(JSON.stringify(text.toWellFormed()))
}

function escaped(json: string): string {
  return json.replace(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
