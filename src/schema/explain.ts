/**
 * Why an object does not match its schema, in the API server's exact words (kube-openapi `validation/validate`,
 * apiextensions `schema/objectmeta` and `schema/listtype`). It runs only when ajv has said no.
 */
import type { FieldError } from '../api/field-error.ts'
import { invalid, notSupported, quote, required, tooLong, tooMany, typeInvalid } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { getOwn, jsonEqual } from '../api/json.ts'
import { isDeeperThan, tooDeep } from './depth.ts'
import { embeddedResourceErrors } from './embedded-resource.ts'
import { listErrors } from './list-types.ts'
import type { SchemaNode, SchemaType } from './node.ts'
import { formatNumber, isInteger, numberErrors } from './numbers.ts'
import { childPath, childless, fieldOf, indexPath, keyPath } from './path.ts'

/** What is wrong, and apart from it what is wrong with lists that must be sets or maps: an update may leave that as it was. */
export interface Explanation {
  readonly errors: FieldError[]
  readonly lists: FieldError[]
}

/** The place of a value: as schema errors write it, and as list and embedded-resource errors do, which put a map's keys in brackets. */
interface Place {
  readonly path: string
  readonly field: string
}

export function explain(root: SchemaNode, value: JsonValue, path = ''): Explanation {
  const found: Explanation = { errors: [], lists: [] }
  explainValue(root, value, { path, field: path }, found)
  return found
}

function explainValue(node: SchemaNode, value: JsonValue, at: Place, found: Explanation): void {
  if (value !== null && node.open && isDeeperThan(value)) {
    found.errors.push(tooDeep(at.field, value))
    return
  }
  explainType(node, value, at.path, found)
  explainEnum(node, value, at.path, found)
  if (value === null) return
  explainJunctors(node, value, at, found)
  if (typeof value === 'string') explainString(node, value, at.path, found)
  else if (typeof value === 'number') found.errors.push(...numberErrors(node.numbers, value, at.path))
  else if (Array.isArray(value)) explainArray(node, value, at, found)
  else if (typeof value === 'object') explainObject(node, value, at, found)
}

function typeOf(value: JsonValue): SchemaType | 'null' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return isInteger(value) ? 'integer' : 'number'
  return typeof value as 'string' | 'boolean' | 'object'
}

function explainType(node: SchemaNode, value: JsonValue, path: string, found: Explanation): void {
  const actual = typeOf(value)
  const { types } = node
  const format = node.format?.name ?? node.numbers.format
  const hasFormat = actual === 'null' || actual === 'string' || actual === 'array' || format === undefined
  if (types.length === 0 ? hasFormat : matchesType(node, actual)) return
  // Where there is a format, what cannot have one is measured by it, and named by the format that Go has for it.
  if (hasFormat) found.errors.push(typeError(path, types.join(','), actual))
  else found.errors.push(typeError(path, format, actual === 'integer' ? 'int64' : actual === 'number' ? 'float64' : ''))
}

function matchesType({ types, nullable }: SchemaNode, actual: SchemaType | 'null'): boolean {
  if (actual === 'null') return nullable
  return types.includes(actual) || (actual === 'integer' && types.includes('number'))
}

function typeError(path: string, expected: string, actual: string): FieldError {
  return typeInvalid(fieldOf(path), actual, `${path} in body must be of type ${expected}: ${quote(actual)}`)
}

function explainEnum(node: SchemaNode, value: JsonValue, path: string, found: Explanation): void {
  if (node.enum === undefined || (value !== null && node.enum.some((allowed) => jsonEqual(allowed, value)))) return
  const supported = (node.schema.enum ?? []).map((allowed) => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed)))
  const error = notSupported(fieldOf(path), isDeeperThan(value) ? null : value, supported)
  // Go prints floats in its own way.
  found.errors.push(typeof value === 'number' ? { ...error, message: error.message.replace(/^[^:]*: [^:]*/, `Unsupported value: ${formatNumber(value)}`) } : error)
}

/** The first that fails of maxLength, minLength and pattern; and the format. */
function explainString(node: SchemaNode, text: string, path: string, found: Explanation): void {
  const { maxLength, minLength } = node.schema
  const wrong = (detail: string): void => void found.errors.push(invalid(path, text, `${path} in body ${detail}`))
  const length = maxLength === undefined && minLength === undefined ? 0 : codePoints(text)
  if (maxLength !== undefined && length > maxLength) found.errors.push(tooLong(path, maxLength))
  else if (minLength !== undefined && length < minLength) wrong(`should be at least ${minLength} chars long`)
  else if (node.pattern !== undefined && !node.pattern.test(text)) wrong(`should match '${node.pattern.source}'`)
  if (node.format !== undefined && !node.format.test(text)) found.errors.push(typeError(path, node.format.name, text))
}

function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

function explainArray(node: SchemaNode, list: JsonValue[], at: Place, found: Explanation): void {
  const { minItems, maxItems } = node.schema
  const { path } = at
  if (node.items !== undefined) {
    for (const [index, item] of list.entries())
      explainValue(node.items, item, { path: indexPath(path, index), field: indexPath(at.field, index) }, found)
  }
  if (minItems !== undefined && list.length < minItems) {
    found.errors.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && list.length > maxItems) found.errors.push(tooMany(path, list.length, maxItems))
  found.lists.push(...listErrors(node, list, at.field))
}

function explainObject(node: SchemaNode, object: JsonObject, at: Place, found: Explanation): void {
  if (node.embeddedResource) found.errors.push(...embeddedResourceErrors(object, at.field))
  const { minProperties, maxProperties } = node.schema
  const { path } = at
  const size = minProperties === undefined && maxProperties === undefined ? 0 : Object.keys(object).length
  if (minProperties !== undefined && size < minProperties) {
    found.errors.push(invalid(fieldOf(path), size, `${path} in body should have at least ${minProperties} properties`))
  }
  if (maxProperties !== undefined && size > maxProperties) found.errors.push(tooMany(fieldOf(path), size, maxProperties))
  for (const key of Object.keys(object)) {
    const value = object[key]
    const child = node.properties.get(key)
    if (value === undefined) continue
    if (child !== undefined) explainValue(child, value, { path: childPath(path, key), field: childPath(at.field, key) }, found)
    else if (typeof node.additional === 'object') {
      explainValue(node.additional, value, { path: childPath(path, key), field: keyPath(at.field, key) }, found)
    }
  }
  for (const key of node.schema.required ?? []) {
    if (getOwn(object, key) === undefined) found.errors.push(required(childPath(path, key)))
  }
}

function explainJunctors(node: SchemaNode, value: JsonValue, at: Place, found: Explanation): void {
  const name = quote(at.path)
  const branch = (child: SchemaNode): FieldError[] => {
    const inside: Explanation = { errors: [], lists: [] }
    explainValue(child, value, at, inside)
    return inside.errors
  }
  if (node.anyOf.length > 0) {
    const failures = node.anyOf.map(branch)
    if (failures.every((errors) => errors.length > 0)) {
      found.errors.push(childless(`${name} must validate at least one schema (anyOf)`), ...nearest(failures))
    }
  }
  if (node.oneOf.length > 0) {
    const failures = node.oneOf.map(branch)
    const valid = failures.filter((errors) => errors.length === 0).length
    if (valid !== 1) {
      const count = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
      found.errors.push(
        childless(`${name} must validate one and only one schema (oneOf). ${count}`),
        ...(valid === 0 ? nearest(failures) : []),
      )
    }
  }
  if (node.allOf.length > 0) {
    const failures = node.allOf.map(branch).filter((errors) => errors.length > 0)
    if (failures.length > 0) {
      const none = failures.length === node.allOf.length ? '. None validated' : ''
      found.errors.push(...failures.flat(), childless(`${name} must validate all the schemas (allOf)${none}`))
    }
  }
  if (node.not !== undefined && branch(node.not).length === 0) {
    found.errors.push(childless(`${name} must not validate the schema (not)`))
  }
}

/** The branch that came nearest: the API server counts passed checks, here it is the one with the fewest errors. */
function nearest(failures: readonly FieldError[][]): FieldError[] {
  return failures.reduce((best, errors) => (errors.length < best.length ? errors : best))
}
