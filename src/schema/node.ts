/** A structural schema prepared for pruning, defaulting, translation to ajv, and error messages. */
import type { BuiltinTypeName } from '../api/builtin-types.ts'
import { builtinTypeOf } from '../api/builtin-types.ts'
import type { JsonValue } from '../api/json.ts'
import { deepFreeze } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import { coerceResources } from './decode-embedded-resource.ts'
import { applyDefaults } from './default.ts'
import type { NumberRules } from './numbers.ts'
import { numberRules } from './numbers.ts'
import type { Format } from '../formats/formats.ts'
import { formatOf } from '../formats/formats.ts'
import type { Pattern } from '../formats/patterns.ts'
import { compilePattern } from '../formats/patterns.ts'
import { prune } from './prune.ts'

export type SchemaType = NonNullable<StructuralSchema['type']>

export interface SchemaNode {
  readonly schema: StructuralSchema
  /** Allowed types; empty for any type. Int-or-string has `integer` and `string`. */
  readonly types: readonly SchemaType[]
  readonly nullable: boolean
  /** The default, pruned and with the defaults below it applied. It is deeply frozen, because objects share it. */
  readonly default: JsonValue | undefined
  readonly properties: ReadonlyMap<string, SchemaNode>
  /** The properties with a default. */
  readonly defaulted: readonly { readonly key: string; readonly value: JsonValue }[]
  /** Schema of a map's values. `any` and `none` stand for `additionalProperties: true` and `false`. */
  readonly additional: SchemaNode | 'any' | 'none' | undefined
  readonly items: SchemaNode | undefined
  readonly preserveUnknownFields: boolean
  readonly embeddedResource: boolean
  /** True if the value may contain objects and arrays whose depth the schema does not limit. */
  readonly open: boolean
  readonly listType: 'set' | 'map' | undefined
  readonly listMapKeys: readonly string[]
  /** The allowed values without null: an enum never allows null, even if it lists it, except in built-in types. */
  readonly enum: readonly JsonValue[] | undefined
  /** The format. It is set only if kube-apiserver validates the format for values of this type. */
  readonly format: Format | undefined
  /**
   * True in schemas that validate defaults, from which kube-apiserver does not remove unsupported formats
   * (`StripUnsupportedFormatsPostProcess`).
   */
  readonly anyFormat: boolean
  readonly pattern: Pattern | undefined
  readonly numbers: NumberRules
  readonly allOf: readonly SchemaNode[]
  readonly anyOf: readonly SchemaNode[]
  readonly oneOf: readonly SchemaNode[]
  readonly not: SchemaNode | undefined
  /** The built-in type of the value; `builtinNode` has its node. It is used for validation only: pruning and defaulting ignore it. */
  readonly builtin: BuiltinTypeName | undefined
  /** Name of the built-in type if this is the node of one, which is shared. */
  readonly typeName: string | undefined
  /**
   * True for parts of built-in types. Go decodes null and an empty string as the zero value, so both count as not set. List keys only
   * correlate items: whether they must be unique is decided by kube-apiserver's validation of the type, which mostly does not require it.
   */
  readonly decoded: boolean
}

/** Builds the node of a schema. `checkStructural` must have found no errors in it. */
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
    // The root's metadata is validated only by `validateObjectMeta`.
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

/** Prunes a default according to its own schema, applies the defaults below it, and freezes it, because all objects share it. */
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
