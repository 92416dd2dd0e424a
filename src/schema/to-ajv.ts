/**
 * Translates a structural schema to ajv's JSON Schema. ajv only determines whether an object is valid, and stops at the first failure.
 * `explain` then produces the error messages.
 */
import { _, Ajv } from 'ajv'
import type { AnySchemaObject, Options, ValidateFunction } from 'ajv'
import type { JsonObject, JsonValue } from '../api/json.ts'
import { getOwn } from '../api/json.ts'
import { builtinNode, isMissing } from './builtin-node.ts'
import { codePoints } from './code-points.ts'
import { isDeeperThan } from './depth.ts'
import { embeddedResourceErrors } from './embedded-resource.ts'
import { convertsForEnum, isInEnum } from './enum.ts'
import { isProperList } from './list-types.ts'
import type { SchemaNode } from './node.ts'
import { inRange, maxInt32, maxInt64, numberErrors } from './numbers.ts'

/** Compiles the check of a complete value. Compiling takes milliseconds, and a check takes microseconds. */
export function compileCheck(root: SchemaNode): ValidateFunction {
  // Inherited properties such as `constructor` must not count as fields. ajv's option `ownProperties` ensures this, but it is slow.
  // Therefore the option is enabled only if the schema has a field with the name of an inherited property.
  return createAjv({ ownProperties: namesInheritedField(root) }).compile(translate(root))
}

function createAjv(options: Options): Ajv {
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    meta: false,
    logger: false,
    ...options,
  })
  // Custom keywords implement checks that JSON Schema does not have. The value of a custom keyword is a function. The compiled code calls
  // this function directly.
  for (const type of ['value', 'bigint', 'string', 'number', 'array', 'object'] as const) {
    ajv.addKeyword({
      keyword: `${type}Check`,
      ...(type === 'value' || type === 'bigint' ? {} : { type }),
      code: (context) => context.pass(_`${context.gen.scopeValue('func', { ref: context.schema as unknown })}(${context.data})`),
    })
  }
  ajv.addKeyword({ keyword: 'depthCheck', errors: false, validate: (_: true, value: unknown) => !isDeeperThan(value) })
  ajv.addKeyword({
    keyword: 'protoProperty',
    type: 'object',
    errors: false,
    compile: (schema: AnySchemaObject) => {
      const check = ajv.compile(schema)
      return (object: JsonObject) => !Object.hasOwn(object, '__proto__') || check(object.__proto__)
    },
  })
  return ajv
}

type Check = (value: unknown) => boolean

interface BuiltinCheck {
  /** Compiles the check on first use. The schema of a Pod contains many built-in types, but most Pods have values of only a few types. */
  readonly check: Check
  compiled: Check | undefined
}

const builtinChecks = new Map<string, BuiltinCheck>()
let builtinAjv: Ajv | undefined

/** Returns the check of a built-in type. Each check is compiled once per process, and all schemas share the check. */
function builtinCheck(name: string): Check {
  const known = builtinChecks.get(name)
  if (known !== undefined) return known.check
  const added: BuiltinCheck = { check: (value) => (added.compiled ?? compileBuiltin(name, added))(value), compiled: undefined }
  builtinChecks.set(name, added)
  return added.check
}

function compileBuiltin(name: string, check: BuiltinCheck): Check {
  // The check of a Pod consists of many small functions, and each process that validates Pods compiles all of them. Optimizing these
  // functions takes more time than it saves. ajv's messages are not needed, because `explain` produces the error messages.
  builtinAjv ??= createAjv({ code: { optimize: false }, messages: false })
  check.compiled = builtinAjv.compile(translateFully(builtinNode(name)))
  return check.compiled
}

/**
 * The checks of built-in types are compiled one at a time. This function compiles the next check, and returns true. If all checks are
 * already compiled, the function returns false. A webhook server calls the function until it returns false, so that later requests do not
 * wait for the compilation.
 */
export function compileNextBuiltinCheck(): boolean {
  for (const [name, check] of builtinChecks) {
    if (check.compiled !== undefined) continue
    compileBuiltin(name, check)
    return true
  }
  return false
}

function translate(node: SchemaNode): AnySchemaObject {
  if (node.typeName === undefined) return translateFully(node)
  return { type: node.nullable ? ['object', 'null'] : ['object'], objectCheck: builtinCheck(node.typeName) }
}

function translateFully(node: SchemaNode): AnySchemaObject {
  const checks: AnySchemaObject = {
    ...(node.enum === undefined ? {} : enumCheck(node.enum, node.types)),
    ...stringCheck(node),
    ...numberChecks(node),
    ...arrayChecks(node),
    ...objectChecks(node),
    ...(node.open ? { depthCheck: true } : {}),
    ...junctorChecks(node),
    ...(node.builtin === undefined ? {} : { valueCheck: builtinCheck(node.builtin) }),
  }
  // A schema with a format but without a type accepts strings, lists and null, as in kube-apiserver.
  if (node.types.length === 0) return node.format === undefined ? untyped(checks) : { type: ['string', 'array', 'null'], ...checks }
  return { type: node.nullable ? [...node.types, 'null'] : [...node.types], ...checks }
}

/**
 * Returns the ajv schema for a structural schema that has no type. `checks` contains the keywords of the ajv schema. If `checks` is not
 * empty, the ajv schema also rejects every bigint (an integer beyond 2^53). This is necessary because ajv does not support bigints: without
 * a type, most keywords accept every bigint. When ajv rejects a value, `explain` checks the value again. `explain` supports bigints, and
 * determines whether the value is valid.
 */
function untyped(checks: AnySchemaObject): AnySchemaObject {
  return Object.keys(checks).length === 0 ? checks : { ...checks, bigintCheck: (value: JsonValue) => typeof value !== 'bigint' }
}

function defined(keywords: Record<string, unknown>): AnySchemaObject {
  return Object.fromEntries(Object.entries(keywords).filter(([, value]) => value !== undefined))
}

function enumCheck(values: readonly JsonValue[], types: SchemaNode['types']): AnySchemaObject {
  if (convertsForEnum(values, types)) return { valueCheck: (value: JsonValue) => isInEnum(values, value) }
  // If the enum in the schema contains only null, `values` is empty, and no value is allowed. ajv does not accept an empty enum.
  return values.length === 0 ? { allOf: [false] } : { enum: values }
}

/**
 * Returns the keyword `stringCheck`, whose function performs all checks of a string. Returns an empty schema if there is nothing to check.
 */
function stringCheck({ pattern, format, schema: { minLength, maxLength } }: SchemaNode): AnySchemaObject {
  const checks: ((text: string) => boolean)[] = []
  // The limits are in code points, but `length` is in UTF-16 units. A code point has one or two units, so the number of code points is
  // between `length / 2` and `length`. If `length` shows that the text satisfies the limit, the code points are not counted, because
  // counting is slow.
  if (maxLength !== undefined) checks.push((text) => text.length <= maxLength || codePoints(text) <= maxLength)
  if (minLength !== undefined) checks.push((text) => text.length >= minLength * 2 || codePoints(text) >= minLength)
  if (pattern !== undefined) checks.push(pattern.test)
  if (format !== undefined) checks.push((text) => format.test(text))
  const [first, second, ...others] = checks
  if (first === undefined) return {}
  if (second === undefined) return { stringCheck: first }
  return {
    stringCheck:
      others.length === 0 ? (text: string) => first(text) && second(text) : (text: string) => checks.every((check) => check(text)),
  }
}

function numberChecks(node: SchemaNode): AnySchemaObject {
  const rules = node.numbers
  const bounds = [rules.minimum, rules.maximum].filter((bound) => bound !== undefined)
  // Numbers are validated with `numberErrors` if the arithmetic of kube-apiserver differs from that of JSON Schema.
  if (
    rules.multipleOf !== undefined ||
    rules.format === 'float' ||
    bounds.some((bound) => !Number.isInteger(bound) || Math.abs(bound) >= maxInt64 || !inRange(rules, bound))
  ) {
    return { ...integerRange(node), numberCheck: (value: number) => numberErrors(rules, value, '').length === 0 }
  }
  const { minimum: least, maximum: most } = integerRange(node) as { minimum?: number; maximum?: number }
  return defined({
    minimum: greatest(least, rules.exclusiveMinimum ? undefined : rules.minimum),
    maximum: smallest(most, rules.exclusiveMaximum ? undefined : rules.maximum),
    exclusiveMinimum: rules.exclusiveMinimum ? rules.minimum : undefined,
    exclusiveMaximum: rules.exclusiveMaximum ? rules.maximum : undefined,
  })
}

/** The greatest int64 that a JavaScript number represents exactly. */
const maxFloatInt64 = maxInt64 - 1024

function integerRange(node: SchemaNode): AnySchemaObject {
  if (!node.types.includes('integer')) return {}
  return node.numbers.format === 'int32'
    ? { minimum: -maxInt32 - 1, maximum: maxInt32 }
    : { minimum: -maxFloatInt64, maximum: maxFloatInt64 }
}

function greatest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
}

function smallest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

function arrayChecks(node: SchemaNode): AnySchemaObject {
  const { minItems, maxItems } = node.schema
  return defined({
    minItems,
    maxItems,
    items: node.items === undefined ? undefined : translate(node.items),
    arrayCheck: node.listType === undefined || node.decoded ? undefined : (list: JsonValue[]) => isProperList(node, list),
  })
}

function objectChecks(node: SchemaNode): AnySchemaObject {
  const { minProperties, maxProperties, required } = node.schema
  const proto = node.properties.get('__proto__')
  const properties = [...node.properties].filter(([key]) => key !== '__proto__').map(([key, child]) => [key, translate(child)] as const)
  return defined({
    minProperties,
    maxProperties,
    required: required === undefined || required.length === 0 || node.decoded ? undefined : [...new Set(required)],
    properties: properties.length === 0 ? undefined : Object.fromEntries(properties),
    // ajv does not support a field `__proto__`.
    protoProperty: proto === undefined ? undefined : translate(proto),
    additionalProperties: typeof node.additional === 'object' ? translate(node.additional) : undefined,
    objectCheck: objectCheck(node),
  })
}

function objectCheck(node: SchemaNode): ((object: JsonObject) => boolean) | undefined {
  const { embeddedResource, additional, properties, schema } = node
  if (node.decoded) return schema.required && requiredCheck(node, schema.required)
  // ajv does not detect a missing required field whose name is empty.
  const needsNameless = schema.required?.includes('') === true
  if (!embeddedResource && additional !== 'none' && !needsNameless) return undefined
  return (object) =>
    (!embeddedResource || embeddedResourceErrors(object, '').length === 0) &&
    (additional !== 'none' || Object.keys(object).every((key) => properties.has(key))) &&
    (!needsNameless || getOwn(object, '') !== undefined)
}

/**
 * Checks the required fields of a built-in type. Reading `object[key]` is safe, because no required field has the name of an inherited
 * property.
 */
function requiredCheck(node: SchemaNode, keys: readonly string[]): (object: JsonObject) => boolean {
  return (object) => {
    for (const key of keys) if (isMissing(node, object[key])) return false
    return true
  }
}

function junctorChecks(node: SchemaNode): AnySchemaObject {
  const junctors = defined({
    allOf: several(node.allOf),
    anyOf: several(node.anyOf),
    oneOf: several(node.oneOf),
    not: node.not === undefined ? undefined : translate(node.not),
  })
  if (Object.keys(junctors).length === 0) return {}
  // If the value is null, kube-apiserver validates only its type and its enum.
  return { if: { type: 'null' }, else: junctors }
}

function several(nodes: readonly SchemaNode[]): AnySchemaObject[] | undefined {
  return nodes.length === 0 ? undefined : nodes.map(translate)
}

/** Returns true if a field of the schema has the name of a property that JavaScript objects inherit, such as `constructor`. */
function namesInheritedField(node: SchemaNode): boolean {
  const names = [...node.properties.keys(), ...(node.schema.required ?? [])]
  const children = [...node.properties.values(), node.additional, node.items, node.not, ...node.allOf, ...node.anyOf, ...node.oneOf]
  return names.some((name) => name in Object.prototype) || children.some((child) => typeof child === 'object' && namesInheritedField(child))
}
