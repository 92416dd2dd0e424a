/** A structural schema that is prepared for pruning, defaulting, translation to ajv, and error messages. */
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
  /** The allowed types; empty if any type is allowed. `x-kubernetes-int-or-string` allows the types `integer` and `string`. */
  readonly types: readonly SchemaType[]
  readonly nullable: boolean
  /**
   * The default value, after pruning and defaulting: unknown fields are removed, and missing fields have their own default values. The
   * default value is deeply frozen, because all objects with this default share the same value.
   */
  readonly default: JsonValue | undefined
  readonly properties: ReadonlyMap<string, SchemaNode>
  /** The names and default values of the properties that have a default. */
  readonly defaulted: readonly { readonly key: string; readonly value: JsonValue }[]
  /** The schema of a map's values. `any` means `additionalProperties: true`, and `none` means `additionalProperties: false`. */
  readonly additional: SchemaNode | 'any' | 'none' | undefined
  readonly items: SchemaNode | undefined
  readonly preserveUnknownFields: boolean
  readonly embeddedResource: boolean
  /** True if the schema permits values without specifying their structure. The schema does not limit the depth of such a value. */
  readonly open: boolean
  readonly listType: 'set' | 'map' | undefined
  readonly listMapKeys: readonly string[]
  /** The allowed values. An enum in a CRD rejects null, even if the enum lists null. An enum of a built-in type allows null. */
  readonly enum: readonly JsonValue[] | undefined
  /** The format; undefined if kube-apiserver does not validate the format for values of this type. */
  readonly format: Format | undefined
  /**
   * True if the node also validates formats that CRDs do not support. kube-apiserver removes these formats from schemas that validate
   * objects (`StripUnsupportedFormatsPostProcess`), but not from schemas that validate defaults. `anyFormat` is therefore true for nodes
   * that validate defaults.
   */
  readonly anyFormat: boolean
  readonly pattern: Pattern | undefined
  readonly numbers: NumberRules
  readonly allOf: readonly SchemaNode[]
  readonly anyOf: readonly SchemaNode[]
  readonly oneOf: readonly SchemaNode[]
  readonly not: SchemaNode | undefined
  /**
   * The built-in type of the value. `builtinNode` returns the node of this type. Validation and the search for unknown fields use that
   * node. Pruning and defaulting ignore the built-in type.
   */
  readonly builtin: BuiltinTypeName | undefined
  /** The name of the built-in type if this node describes a built-in type. */
  readonly typeName: string | undefined
  /**
   * True for built-in types and their fields. In Go, null, an empty string and a missing field all result in the zero value, so null and an
   * empty string count as missing. The keys of list items do not have to be unique, because kube-apiserver does not require this for most
   * built-in types.
   */
  readonly decoded: boolean
}

/** Builds the node of a schema. The caller must have checked that the schema is structural. */
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
    // A node with `open: true` checks the depth of its value. For the metadata of the root object, `open` is false, because
    // `validateObjectMeta` validates this metadata instead.
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

function prepareDefault(node: Omit<SchemaNode, 'default'>, value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined || value === null) return undefined
  return deepFreeze(applyDefaults(node, coerceResources(node, prune(node, structuredClone(value)).value, false).value, false))
}

/**
 * Builds the node of a schema that describes a complete object.
 *
 * In the node of the field `metadata`, `open` is always false, because a node with `open: true` checks the depth of its value.
 * `validateObjectMeta` validates the metadata instead.
 */
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
