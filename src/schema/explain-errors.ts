/**
 * Finds the errors of a value, with kube-apiserver's messages (kube-openapi `validation/validate`,
 * `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta` and `listtype`). The value is an object that ajv has rejected, or a
 * default in a schema.
 */
import type { FieldError } from '../api/field-error.ts'
import { invalid, notSupported, quote, required, tooLong, tooMany, typeInvalid } from '../api/field-error.ts'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { canonicalJson, getOwn, jsonEqual, stringifyJson } from '../api/json.ts'
import type { BuiltinTypeName } from '../api/builtin-types.ts'
import { builtinNode, isMissing } from './builtin-node.ts'
import { codePoints } from './code-points.ts'
import { isDeeperThan, tooDeep } from './depth.ts'
import { embeddedResourceErrors } from './embedded-resource.ts'
import { isInEnum } from './enum.ts'
import { isProperList, listErrors } from './list-types.ts'
import type { SchemaNode, SchemaType } from './node.ts'
import { isInteger, numberErrors } from './numbers.ts'
import type { OldValue } from './ratchet.ts'
import { isUnchanged, oldField, oldItem } from './ratchet.ts'
import { childPath, childless, fieldChildPath, fieldOf, indexPath, keyPath } from '../api/field-path.ts'

/** The errors of a value, grouped by the condition under which an update tolerates them. */
export interface Explanation {
  /** Errors of values that violate the schema. If an update does not change a value, the update tolerates the errors of this value. */
  readonly errors: FieldError[]
  /** Errors of lists of type set or map. An update tolerates these errors if the old object also has errors of this kind. */
  readonly lists: FieldError[]
  /** Errors of embedded resources. An update never tolerates them. */
  readonly resources: FieldError[]
}

/**
 * When this number of errors has been found, no further items and fields are validated, because a hostile object could cause millions of
 * errors. (kube-apiserver reports all errors.)
 */
const maxErrors = 1000

/**
 * The two paths of a value. Schema errors contain `path`. Errors of lists and embedded resources contain `field`, in which the keys of maps
 * are in brackets.
 */
interface Place {
  readonly path: string
  readonly field: string
}

/**
 * Returns all errors in `value`, except schema errors of values that are unchanged since `old`. `field` is the path of `value` in the
 * object. The paths in errors of lists and embedded resources start with `field`. The paths in schema errors are relative to `value`.
 */
export function explain(root: SchemaNode, value: JsonValue, old?: OldValue, field = ''): Explanation {
  const found: Explanation = { errors: [], lists: [], resources: [] }
  explainValue(root, value, { path: '', field }, found, old)
  return found
}

/**
 * Adds the errors of a value to `found`. Returns the number of successful checks as kube-openapi counts them (`Result.MatchCount`). The
 * number is needed for anyOf and oneOf. If a value matches none of their schemas, the errors of the schema with the most successful checks
 * are reported.
 */
function explainValue(node: SchemaNode, value: JsonValue, at: Place, found: Explanation, old: OldValue): number {
  const before = found.errors.length
  const matches = explainWithoutRatcheting(node, value, at, found, old)
  if (found.errors.length > before && isUnchanged(node, value, old)) found.errors.length = before
  return matches
}

/**
 * Adds the errors of a value to `found`. Returns the number of successful checks as kube-openapi counts them. If `old` is the old value,
 * the following rules apply:
 *
 * - If a field or an item of the value is unchanged, its schema errors are omitted.
 * - If the value as a whole is unchanged, the function does not validate it as a built-in type. The function still adds the other schema
 *   errors of the value to `found`. `explainValue` then removes these errors.
 */
function explainWithoutRatcheting(node: SchemaNode, value: JsonValue, at: Place, found: Explanation, old: OldValue): number {
  if (value !== null && node.open && isDeeperThan(value)) {
    found.errors.push(tooDeep(at.path, value))
    return 0
  }
  const hasType = explainType(node, value, at.path, found)
  explainEnum(node, value, at.path, found)
  if (value === null) return hasType ? 1 : 0
  // kube-openapi (`SchemaValidator.Validate`) counts three matches for each value: one for the value, one for the validator of `enum`, and
  // one for `schemaPropsValidator`, which validates `allOf`, `anyOf`, `oneOf` and `not`. `schemaPropsValidator` counts further matches,
  // which `explainJunctors` returns.
  let matches = 3 + explainJunctors(node, value, at, found)
  if (node.types.length > 0 || node.format !== undefined) matches += hasType ? 2 : 1
  if (typeof value === 'string') {
    explainString(node, value, at.path, found)
    matches += node.format === undefined ? 1 : 2
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    found.errors.push(...numberErrors(node.numbers, value, at.path))
    matches += 2
  } else if (Array.isArray(value)) matches += 2 + explainArray(node, value, at, found, old)
  else if (typeof value === 'object') matches += 1 + explainObject(node, value, at, found, old)
  if (node.builtin !== undefined && typeof value === 'object') explainBuiltin(node.builtin, value, at, found, old)
  return matches
}

/** Adds the errors of a built-in type. If `found` already has an error at a path, the built-in type's errors at this path are omitted. */
function explainBuiltin(type: BuiltinTypeName, value: JsonValue, at: Place, found: Explanation, old: OldValue): void {
  if (old !== undefined && jsonEqual(value, old.value)) return
  const inside: Explanation = { errors: [], lists: [], resources: [] }
  explainValue(builtinNode(type), value, at, inside, old)
  const reported = new Set(found.errors.map(({ path }) => path))
  found.errors.push(...inside.errors.filter(({ path }) => !reported.has(path)))
}

function typeOf(value: JsonValue): SchemaType | 'null' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number' || typeof value === 'bigint') return isInteger(value) ? 'integer' : 'number'
  return typeof value as 'string' | 'boolean' | 'object'
}

function explainType(node: SchemaNode, value: JsonValue, path: string, found: Explanation): boolean {
  const actual = typeOf(value)
  const { types } = node
  const format = node.format?.name ?? node.numbers.format
  const isText = actual === 'string' || actual === 'array'
  // kube-openapi assigns a format to every number, and no format to other values.
  const goFormat = actual === 'integer' ? 'int64' : actual === 'number' ? 'float64' : ''
  const comparesFormats = actual !== 'null' && !isText && format !== undefined
  if (types.length === 0 ? !comparesFormats : matchesType(node, actual)) return true
  // If a schema has a format, and the type of the schema is neither integer nor number, kube-openapi never reports a wrong type for a
  // string or for a list (`validate: typeValidator`). When Proreus validates defaults (`anyFormat`), Proreus does not report a wrong type
  // in this case either. When Proreus validates other values, Proreus reports the wrong type, because operators rely on the types of
  // fields.
  if (node.anyFormat && isText && format !== undefined && !types.includes('integer') && !types.includes('number')) return true
  // If the schema has a format, kube-openapi reports a wrong format instead of a wrong type in two cases: the value is a boolean or an
  // object, or the value is a number whose format is not the schema's format.
  if (comparesFormats && format !== goFormat) found.errors.push(typeError(path, format, goFormat))
  else found.errors.push(typeError(path, types.join(','), actual))
  return false
}

function matchesType({ types, nullable }: SchemaNode, actual: SchemaType | 'null'): boolean {
  if (actual === 'null') return nullable
  return types.includes(actual) || (actual === 'integer' && types.includes('number'))
}

function typeError(path: string, expected: string, actual: string): FieldError {
  return typeInvalid(fieldOf(path), actual, `${path} in body must be of type ${expected}: ${quote(actual)}`)
}

function explainEnum(node: SchemaNode, value: JsonValue, path: string, found: Explanation): void {
  if (node.enum === undefined || ((value !== null || node.decoded) && isInEnum(node.enum, value))) return
  const supported = (node.schema.enum ?? []).map((allowed) => (typeof allowed === 'string' ? allowed : (stringifyJson(allowed) ?? '')))
  found.errors.push(notSupported(fieldOf(path), isDeeperThan(value) ? null : value, supported))
}

/** Reports the first violation of maxLength, minLength and pattern. Also reports a violation of the format. */
function explainString(node: SchemaNode, text: string, path: string, found: Explanation): void {
  const { maxLength, minLength } = node.schema
  const wrong = (detail: string): void => void found.errors.push(invalid(path, text, `${path} in body ${detail}`))
  if (maxLength !== undefined && text.length > maxLength && codePoints(text) > maxLength) found.errors.push(tooLong(path, maxLength))
  else if (minLength !== undefined && text.length < minLength * 2 && codePoints(text) < minLength)
    wrong(`should be at least ${minLength} chars long`)
  else if (node.pattern !== undefined && !node.pattern.test(text)) wrong(`should match '${node.pattern.source}'`)
  if (node.format !== undefined && !node.format.test(text)) found.errors.push(typeError(path, node.format.name, text))
}

function explainArray(node: SchemaNode, list: JsonValue[], at: Place, found: Explanation, old: OldValue): number {
  let matches = 0
  const { minItems, maxItems } = node.schema
  const { path } = at
  if (node.items !== undefined) {
    for (const [index, item] of list.entries()) {
      if (found.errors.length >= maxErrors) break
      const place = { path: indexPath(path, index), field: indexPath(at.field, index) }
      matches += explainValue(node.items, item, place, found, oldItem(node, old, item))
    }
  }
  if (minItems !== undefined && list.length < minItems) {
    found.errors.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && list.length > maxItems) found.errors.push(tooMany(path, list.length, maxItems))
  // kube-apiserver rejects each CRD whose schema contains `uniqueItems: true`. Therefore, no custom resource is ever validated with this
  // keyword. The keyword matters only for the defaults in a rejected CRD: in addition to the error for the keyword, kube-apiserver reports
  // each default that contains duplicates.
  if (node.schema.uniqueItems === true && hasDuplicates(list)) found.errors.push(childless(`${path} in body shouldn't contain duplicates`))
  if (!node.decoded && !isProperList(node, list)) found.lists.push(...listErrors(node, list, at.field, maxErrors))
  return matches
}

function hasDuplicates(list: readonly JsonValue[]): boolean {
  return new Set(list.map((item) => canonicalJson(item))).size < list.length
}

function explainObject(node: SchemaNode, object: JsonObject, at: Place, found: Explanation, old: OldValue): number {
  let matches = 0
  if (node.embeddedResource) found.resources.push(...embeddedResourceErrors(object, at.field))
  const { minProperties, maxProperties } = node.schema
  const { path } = at
  const size = minProperties === undefined && maxProperties === undefined ? 0 : Object.keys(object).length
  if (minProperties !== undefined && size < minProperties) {
    found.errors.push(invalid(fieldOf(path), size, `${path} in body should have at least ${minProperties} properties`))
  }
  if (maxProperties !== undefined && size > maxProperties) found.errors.push(tooMany(fieldOf(path), size, maxProperties))
  for (const key of Object.keys(object)) {
    if (found.errors.length >= maxErrors) break
    const value = object[key]
    const child = node.properties.get(key)
    if (value === undefined) continue
    const schema = child ?? (typeof node.additional === 'object' ? node.additional : undefined)
    if (schema === undefined) {
      if (node.additional === 'none') found.errors.push(invalid(fieldOf(path), key, `${path}.${key} in body is a forbidden property`))
      continue
    }
    const place = {
      path: child === undefined ? `${path}.${key}` : childPath(path, key),
      field: child === undefined ? keyPath(at.field, key) : fieldChildPath(at.field, key),
    }
    // If an update does not change a value, the update tolerates the schema errors of this value. The fields apiVersion and kind at the
    // root are an exception: an update never tolerates their errors. kube-apiserver first converts the old object to the version of the new
    // object. After this conversion, both fields always look unchanged. Therefore, kube-apiserver does not compare these fields with the
    // old object (`ratchetingValueValidator.SubPropertyValidator`).
    const isType = path === '' && (key === 'apiVersion' || key === 'kind')
    matches += explainValue(schema, value, place, found, isType ? undefined : oldField(node, old, key))
  }
  for (const key of node.schema.required ?? []) {
    if (isMissing(node, getOwn(object, key))) found.errors.push(required(childPath(path, key)))
  }
  return matches
}

/** The result of validating a value with one of the schemas in `allOf`, `anyOf`, `oneOf` or `not`. */
interface Branch {
  readonly errors: readonly FieldError[]
  readonly matches: number
}

function explainJunctors(node: SchemaNode, value: JsonValue, at: Place, found: Explanation): number {
  if (node.anyOf.length + node.oneOf.length + node.allOf.length === 0 && node.not === undefined) return 1
  const name = quote(at.path)
  const nothing: Branch = { errors: [], matches: 0 }
  let matches = 0
  const branch = (child: SchemaNode): Branch => {
    const inside: Explanation = { errors: [], lists: [], resources: [] }
    const count = explainValue(child, value, at, inside, undefined)
    return { errors: inside.errors, matches: count }
  }
  const add = (problem: string | undefined, { errors, matches: count }: Branch): void => {
    if (problem !== undefined) found.errors.push(childless(`${name} ${problem}`))
    found.errors.push(...errors)
    matches += count
  }
  if (node.anyOf.length > 0) {
    const branches = node.anyOf.map(branch)
    const valid = branches.find(({ errors }) => errors.length === 0)
    add(valid === undefined ? 'must validate at least one schema (anyOf)' : undefined, valid ?? nearest(branches))
  }
  if (node.oneOf.length > 0) {
    const branches = node.oneOf.map(branch)
    const [valid, ...others] = branches.filter(({ errors }) => errors.length === 0)
    const only = 'must validate one and only one schema (oneOf).'
    if (valid === undefined) add(`${only} Found none valid`, nearest(branches))
    else if (others.length > 0) add(`${only} Found ${others.length + 1} valid alternatives`, nothing)
    else add(undefined, valid)
  }
  if (node.allOf.length > 0) {
    const branches = node.allOf.map(branch)
    for (const one of branches) add(undefined, one)
    const invalidCount = branches.filter(({ errors }) => errors.length > 0).length
    if (invalidCount > 0) add(`must validate all the schemas (allOf)${invalidCount === branches.length ? '. None validated' : ''}`, nothing)
  }
  if (node.not !== undefined && branch(node.not).errors.length === 0) add('must not validate the schema (not)', nothing)
  return matches + 1
}

/** Returns the result that has the highest number of successful checks. If several results have this number, returns the first of them. */
function nearest(branches: readonly Branch[]): Branch {
  return branches.reduce((best, one) => (one.matches > best.matches ? one : best))
}
