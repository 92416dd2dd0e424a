/** A structural schema made ready for walking: what defaulting, pruning, ajv's translation and the renderer all look at. */
import type { BuiltinTypeName } from '../api/builtin-types.ts'
import { builtinTypeOf } from '../api/builtin-types.ts'
import type { JsonValue } from '../api/json.ts'
import { deepFreeze } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { coerceResources } from './coerce.ts'
import { applyDefaults } from './default.ts'
import type { NumberRules } from './numbers.ts'
import { numberRules } from './numbers.ts'
import type { Format } from './formats.ts'
import { formatOf } from './formats.ts'
import type { Pattern } from './patterns.ts'
import { compilePattern } from './patterns.ts'
import { prune } from './prune.ts'

export type SchemaType = NonNullable<StructuralSchema['type']>

export interface SchemaNode {
  readonly schema: StructuralSchema
  /** Empty: any type. `integer` and `string` for int-or-string. */
  readonly types: readonly SchemaType[]
  readonly nullable: boolean
  /** The default, pruned and with the defaults below it filled in; deeply frozen, so that objects can share it. */
  readonly default: JsonValue | undefined
  readonly properties: ReadonlyMap<string, SchemaNode>
  /** The properties that have a default. */
  readonly defaulted: readonly { readonly key: string; readonly value: JsonValue }[]
  /** The schema of a map's values; `any` and `none` for `additionalProperties` that are true and false. */
  readonly additional: SchemaNode | 'any' | 'none' | undefined
  readonly items: SchemaNode | undefined
  readonly preserveUnknownFields: boolean
  readonly embeddedResource: boolean
  /** Whether objects and arrays may stand here of which the schema does not say how deep they go. */
  readonly open: boolean
  readonly listType: 'set' | 'map' | undefined
  readonly listMapKeys: readonly string[]
  /** The allowed values but null, which an enum never allows, not even when it lists it; one of a built-in type does. */
  readonly enum: readonly JsonValue[] | undefined
  /** Only when the API server knows the format for this type. */
  readonly format: Format | undefined
  /** A default's: any format, known or not, for any type. */
  readonly anyFormat: boolean
  readonly pattern: Pattern | undefined
  readonly numbers: NumberRules
  readonly allOf: readonly SchemaNode[]
  readonly anyOf: readonly SchemaNode[]
  readonly oneOf: readonly SchemaNode[]
  readonly not: SchemaNode | undefined
  /** The built-in type whose values stand here; its node is `builtinNode`'s. Only validation looks into it: what is there stays as written. */
  readonly builtin: BuiltinTypeName | undefined
  /** This is the node of a built-in type, which all that refer to it share. */
  readonly typeName: string | undefined
  /**
   * Part of a built-in type: Go decodes it, for which null is the same as nothing, and so is an empty text. Its list keys tell items
   * apart; that they are unique is for the API server's own validation to demand, which mostly does not.
   */
  readonly decoded: boolean
}

/** Builds the node of a schema that `checkStructural` found nothing wrong with. */
export function buildNode(schema: StructuralSchema, { isRootMetadata = false, anyFormat = false } = {}): SchemaNode {
  const build = (child: StructuralSchema): SchemaNode => buildNode(child, { anyFormat })
  const types = typesOf(schema)
  const additional = schema.additionalProperties
  const properties = new Map(Object.entries(schema.properties ?? {}).map(([key, child]) => [key, build(child)]))
  const preserveUnknownFields = schema['x-kubernetes-preserve-unknown-fields'] === true
  const listType = schema['x-kubernetes-list-type']
  const node: Omit<SchemaNode, 'default'> = {
    schema,
    types,
    nullable: schema.nullable === true,
    properties,
    defaulted: [...properties].flatMap(([key, child]) => (child.default === undefined ? [] : [{ key, value: child.default }])),
    additional: typeof additional === 'object' ? (additional === null ? undefined : build(additional)) : booleanAdditional(additional),
    items: schema.items === undefined ? undefined : build(schema.items),
    preserveUnknownFields,
    embeddedResource: schema['x-kubernetes-embedded-resource'] === true,
    // The root's metadata is checked by validateObjectMeta alone; nothing here looks into it.
    open:
      !isRootMetadata &&
      (preserveUnknownFields || additional === true || (types.includes('object') && properties.size === 0 && additional === undefined)),
    listType: listType === 'set' || listType === 'map' ? listType : undefined,
    listMapKeys: schema['x-kubernetes-list-map-keys'] ?? [],
    enum: schema.enum === undefined || schema.enum.length === 0 ? undefined : schema.enum.filter((value) => value !== null),
    format: anyFormat
      ? (formatOf(schema.format) ?? unknownFormat(schema.format))
      : types.length === 0 || types.includes('string')
        ? formatOf(schema.format)
        : undefined,
    anyFormat,
    pattern: schema.pattern === undefined || schema.pattern === '' ? undefined : compilePattern(schema.pattern),
    numbers: numberRules(schema, types),
    allOf: (schema.allOf ?? []).map(build),
    anyOf: (schema.anyOf ?? []).map(build),
    oneOf: (schema.oneOf ?? []).map(build),
    not: schema.not === undefined ? undefined : build(schema.not),
    builtin: builtinTypeOf(schema),
    typeName: undefined,
    decoded: false,
  }
  return { ...node, default: prepareDefault(node, schema.default) }
}

function booleanAdditional(additional: boolean | undefined): 'any' | 'none' | undefined {
  return additional === undefined ? undefined : additional ? 'any' : 'none'
}

function unknownFormat(name: string | undefined): Format | undefined {
  return name ? { name, test: () => true } : undefined
}

/** A default is pruned by its own schema, completed with the defaults below it, and then the same value for all objects. */
function prepareDefault(node: Omit<SchemaNode, 'default'>, value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined || value === null) return undefined
  return deepFreeze(applyDefaults(node, coerceResources(node, prune(node, structuredClone(value)).value, false).value, false))
}

/** Builds the node of a whole object's schema. */
export function buildRootNode(schema: StructuralSchema): SchemaNode {
  const root = buildNode(schema)
  const metadata = schema.properties?.metadata
  if (metadata === undefined) return root
  return { ...root, properties: new Map(root.properties).set('metadata', buildNode(metadata, { isRootMetadata: true })) }
}

function typesOf(schema: StructuralSchema): readonly SchemaType[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string']
  return schema.type === undefined ? [] : [schema.type]
}
