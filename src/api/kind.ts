/** `defineKind`: defines a custom kind. Its CRD, static types, defaults and validation are derived from this definition. */
import { builtinTypeOf, withBuiltinType } from './builtin-types.ts'
import type { Condition } from './conditions.ts'
import { ProreusError } from './errors.ts'
import type { ResourceType } from './group-version-kind.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { setOwn } from './json.ts'
import { dns1035Label, dns1123Subdomain } from './name-syntax.ts'
import type { NamespacedMeta, ObjectMeta } from './object.ts'
import type { OptionCheck } from './option-checks.ts'
import { hasOptions, isBoolean, isListOf, isOneOf, isText, isWholeNumber } from './option-checks.ts'
import { isRule, isSchema } from './schema-checks.ts'
import type { StructuralSchema, ValidationRule } from './structural-schema.ts'
import { Type } from './type.ts'
import type { Static, StaticInput, TObject, TSchema } from './type.ts'

/** An additional column in the output of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string
  /** The simple JSON path of the column's value, e.g. `.spec.size`. */
  readonly jsonPath: string
  /** The type of the column's values. Default `string`. */
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  readonly description?: string
  /** The priority of the column. A column with a priority above 0 is shown only with `-o wide`. Default 0. */
  readonly priority?: number
}

export interface VersionDefinition<Spec extends TSchema = TSchema, Status extends TSchema = TSchema> {
  /** The name of the version: `v1`, `v1beta1`, `v1alpha1`, …. */
  readonly name: string
  /** True when the API server serves the version. Default true. */
  readonly served?: boolean
  /** True for the storage version. Exactly one version must be the storage version. Default: true if the kind has only one version. */
  readonly storage?: boolean
  readonly deprecationWarning?: string
  readonly spec: Spec
  /** False to allow objects without a spec. In this case, `spec` is optional in the CRD and in the static type. Default true. */
  readonly specRequired?: boolean
  /**
   * The schema of the status. A version with this schema has the `status` subresource.
   *
   * In the CRD and in the static type, the top-level fields of the status are optional, even without `Type.Optional`, because a new object
   * has no status, and controllers set the fields one by one. The fields of nested objects are required as usual.
   */
  readonly status?: Status
  readonly printerColumns?: readonly PrinterColumn[]
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string; readonly labelSelectorPath?: string }
  /** CEL rules that validate the whole object. */
  readonly rules?: readonly ValidationRule[]
}

export interface KindDefinition<
  Group extends string = string,
  KindName extends string = string,
  Versions extends readonly VersionDefinition[] = readonly VersionDefinition[],
  Scope extends 'Namespaced' | 'Cluster' = 'Namespaced' | 'Cluster',
> {
  readonly group: Group
  readonly kind: KindName
  /** The plural name of the resource. Default: the kind in lower case with an English plural ending. */
  readonly plural?: string
  /** The singular name of the resource. Default: the kind in lower case. */
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** The scope of the resource. Default `Namespaced`. */
  readonly scope?: Scope
  readonly versions: Versions
}

/**
 * A version of a kind. In contrast to a `VersionDefinition`, omitted options have their defaults, and `schema` describes the whole object.
 */
export interface KindVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecationWarning?: string
  /** The schema of the whole object: apiVersion, kind, metadata, spec and status. */
  readonly schema: StructuralSchema
  readonly hasStatus: boolean
  readonly printerColumns: readonly PrinterColumn[]
  readonly scale?: NonNullable<VersionDefinition['scale']>
}

type StorageVersion<Versions extends readonly VersionDefinition[]> = Versions extends readonly [infer Only extends VersionDefinition]
  ? Only
  : Extract<Versions[number], { readonly storage: true }>
type Named<Versions extends readonly VersionDefinition[], Name> = Extract<Versions[number], { readonly name: Name }>

type StatusOf<Version extends VersionDefinition> = Version extends { readonly status: infer Status extends TSchema }
  ? { status?: Partial<Static<Status>> }
  : unknown
type StatusInputOf<Version extends VersionDefinition> = Version extends { readonly status: infer Status extends TSchema }
  ? { status?: Partial<StaticInput<Status>> }
  : unknown
/** The field `spec`, which is optional only if `specRequired` is false. */
type SpecOf<Version extends VersionDefinition, Spec> = Version extends { readonly specRequired: false } ? { spec?: Spec } : { spec: Spec }
type ObjectOfVersion<Group extends string, KindName extends string, Version extends VersionDefinition, Scope> = {
  apiVersion: `${Group}/${Version['name']}`
  kind: KindName
  metadata: Scope extends 'Cluster' ? ObjectMeta : NamespacedMeta
} & SpecOf<Version, Static<Version['spec']>> &
  StatusOf<Version>
type InputOfVersion<Group extends string, KindName extends string, Version extends VersionDefinition> = {
  apiVersion?: `${Group}/${Version['name']}`
  kind?: KindName
  metadata: Partial<ObjectMeta>
} & SpecOf<Version, StaticInput<Version['spec']>> &
  StatusInputOf<Version>

/**
 * A custom kind. In contrast to `DefinedKind`, this interface does not declare the static types of the kind's objects. The inherited field
 * `version` is the name of the storage version. `versions` contains all versions, including the storage version.
 */
export interface Kind extends ResourceType {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly versions: readonly KindVersion[]
}

/** A custom kind with the static types of its objects (see `Infer` and `InferInput`). */
export interface DefinedKind<
  Group extends string,
  KindName extends string,
  Versions extends readonly VersionDefinition[],
  Scope extends 'Namespaced' | 'Cluster',
> extends Kind {
  readonly group: Group
  readonly kind: KindName
  readonly '~object'?: ObjectOfVersion<Group, KindName, StorageVersion<Versions>, Scope>
  readonly '~input'?: InputOfVersion<Group, KindName, StorageVersion<Versions>>
}

/** The definition of the version `Name`; the definition of the storage version when `Name` is `never`. */
type Selected<Versions extends readonly VersionDefinition[], Name> = [Name] extends [never]
  ? StorageVersion<Versions>
  : Named<Versions, Name>

/**
 * The static type of the objects that a read returns. In this type, a field with a default is always present. `Infer<typeof kind, 'v2'>` is
 * the type in the version `v2`, and `Infer<typeof kind>` is the type in the storage version.
 */
export type Infer<K, Version extends string = never> =
  K extends DefinedKind<infer Group, infer KindName, infer Versions, infer Scope>
    ? ObjectOfVersion<Group, KindName, Selected<Versions, Version>, Scope>
    : never

/** The static type of the objects that a write accepts. Fields with a default are optional. */
export type InferInput<K, Version extends string = never> =
  K extends DefinedKind<infer Group, infer KindName, infer Versions, infer _Scope>
    ? InputOfVersion<Group, KindName, Selected<Versions, Version>>
    : never

/** The names of a kind's versions. */
export type VersionNameOf<K> =
  K extends DefinedKind<infer _Group, infer _Name, infer Versions, infer _Scope> ? Versions[number]['name'] : never

/** The names of the spoke versions. These are all versions except the hub, which is the storage version. */
export type SpokeOf<K> =
  K extends DefinedKind<infer _Group, infer _Name, infer Versions, infer _Scope>
    ? Exclude<Versions[number]['name'], StorageVersion<Versions>['name']>
    : never

/** The schema of `status.conditions`, a list with `x-kubernetes-list-type: map` and the key `type`. */
export const Conditions = Type.Array(
  Type.Object({
    type: Type.String({ maxLength: 316, description: 'Type of the condition in CamelCase.' }),
    status: Type.Enum(['True', 'False', 'Unknown'], { description: 'Status of the condition.' }),
    reason: Type.String({
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      description: 'Why, for programs, in CamelCase.',
    }),
    message: Type.String({ maxLength: 32768, description: 'Why, for people.' }),
    lastTransitionTime: Type.String({ format: 'date-time', description: 'When the status last changed.' }),
    observedGeneration: Type.Optional(
      Type.Integer({ format: 'int64', minimum: 0, description: 'The metadata.generation that this is about.' }),
    ),
  }),
  { listType: 'map', listMapKeys: ['type'] },
)
type ConditionsMatch = Static<typeof Conditions> extends Condition[] ? true : never
const conditionsMatch: ConditionsMatch = true
void conditionsMatch

const columnOptions = {
  name: isText,
  jsonPath: isText,
  type: isOneOf('string', 'integer', 'number', 'boolean', 'date'),
  format: isText,
  description: isText,
  priority: isWholeNumber(0),
} satisfies Record<keyof PrinterColumn, OptionCheck>
const scaleOptions = {
  specReplicasPath: isText,
  statusReplicasPath: isText,
  labelSelectorPath: isText,
} satisfies Record<keyof NonNullable<VersionDefinition['scale']>, OptionCheck>
const versionOptions = {
  name: isText,
  served: isBoolean,
  storage: isBoolean,
  deprecationWarning: isText,
  spec: isSchema,
  specRequired: isBoolean,
  status: isSchema,
  printerColumns: isListOf(hasOptions(columnOptions, ['name', 'jsonPath'])),
  scale: hasOptions(scaleOptions, ['specReplicasPath', 'statusReplicasPath']),
  rules: isListOf(isRule),
} satisfies Record<keyof VersionDefinition, OptionCheck>
const kindOptions = {
  group: isText,
  kind: isText,
  plural: isText,
  singular: isText,
  shortNames: isListOf(isText),
  categories: isListOf(isText),
  scope: isOneOf('Namespaced', 'Cluster'),
  versions: isListOf(hasOptions(versionOptions, ['name', 'spec'])),
} satisfies Record<keyof KindDefinition, OptionCheck>
const checkKind = hasOptions(kindOptions, ['group', 'kind', 'versions'])

function refuseKind({ kind, group }: Pick<KindDefinition, 'kind' | 'group'>, problems: readonly string[]): void {
  if (problems.length > 0) throw new ProreusError('PRO_KIND_INVALID', `The kind ${kind}.${group} is invalid: ${problems.join('; ')}.`)
}

/**
 * Defines a custom kind. The static types of its objects are inferred from the schemas: `Infer<typeof kind>`.
 *
 * @example
 * const memcached = defineKind({
 *   group: 'cache.example.com',
 *   kind: 'Memcached',
 *   versions: [{ name: 'v1alpha1', spec: Type.Object({ size: Type.Integer({ minimum: 1, default: 3 }) }) }],
 * })
 *
 * @throws {ProreusError} `PRO_KIND_INVALID` in these cases:
 *
 * - A name is malformed.
 * - A field of the definition is missing, unknown, or of the wrong type.
 * - A keyword of a schema is unknown or of the wrong type.
 * - Two versions have the same name.
 * - There is no storage version, or more than one.
 */
export function defineKind<
  const Group extends string,
  const KindName extends string,
  const Versions extends readonly VersionDefinition[],
  const Scope extends 'Namespaced' | 'Cluster' = 'Namespaced',
>(definition: KindDefinition<Group, KindName, Versions, Scope>): DefinedKind<Group, KindName, Versions, Scope> {
  refuseKind(definition, checkKind(definition, ''))
  const lower = definition.kind.toLowerCase()
  const plural = definition.plural ?? pluralOf(lower)
  const single = definition.versions.length === 1
  const versions = definition.versions.map((version) => kindVersion(version, single))
  const stored = versions.filter((version) => version.storage)
  const problems = [
    ...dns1123Subdomain(definition.group).map((message) => `group: ${message}`),
    ...dns1035Label(plural).map((message) => `plural: ${message}`),
    ...dns1035Label(lower).map((message) => `kind: ${message}`),
    ...(stored.length === 1 ? [] : [`versions: exactly one must have storage: true, found ${stored.length}`]),
    ...(new Set(versions.map(({ name }) => name)).size === versions.length ? [] : ['versions: names must be unique']),
    ...versions.flatMap(({ name }) =>
      /^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/.test(name) ? [] : [`versions: "${name}" is not a version name such as v1, v1beta1 or v2alpha1`],
    ),
  ]
  refuseKind(definition, problems)
  return Object.freeze({
    group: definition.group,
    version: stored[0]!.name,
    kind: definition.kind,
    plural,
    singular: definition.singular ?? lower,
    namespaced: (definition.scope ?? 'Namespaced') === 'Namespaced',
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    versions,
  })
}

/**
 * The key of a property of each resource type that `versionOf` returns. The value of the property is the kind that the caller passed to
 * `versionOf`.
 */
const hub = Symbol('hub')

/**
 * Returns the resource type of one version of a kind. The kind itself is the resource type of its storage version.
 *
 * With the returned type, the client, the cache and the handlers of `defineWebhook` use objects in this version. If a client sends an
 * object in another version, the API server converts the object before it calls the webhook.
 *
 * @throws {ProreusError} `PRO_KIND_INVALID` when the kind has no such version.
 */
export function versionOf<
  Group extends string,
  KindName extends string,
  Versions extends readonly VersionDefinition[],
  Scope extends 'Namespaced' | 'Cluster',
  const Name extends Versions[number]['name'],
>(
  kind: DefinedKind<Group, KindName, Versions, Scope>,
  version: Name,
): ResourceType<ObjectOfVersion<Group, KindName, Named<Versions, Name>, Scope>, InputOfVersion<Group, KindName, Named<Versions, Name>>> {
  const names = kind.versions.map(({ name }) => name)
  if (!names.includes(version))
    throw new ProreusError('PRO_KIND_INVALID', `${kind.kind}.${kind.group} has no version ${version}; it has ${names.join(', ')}.`)
  return Object.freeze({
    group: kind.group,
    version,
    kind: kind.kind,
    plural: kind.plural,
    namespaced: kind.namespaced,
    [hub]: kind,
  })
}

/**
 * Returns the kind that a resource type stands for: the type itself if it is a kind, or the kind that was passed to `versionOf`. Returns
 * undefined for any other type.
 */
export function kindOf(type: ResourceType): Kind | undefined {
  return 'versions' in type ? (type as Kind) : (type as { readonly [hub]?: Kind })[hub]
}

function kindVersion(version: VersionDefinition, single: boolean): KindVersion {
  const spec = plainSchema(version.spec)
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec,
      ...(version.status === undefined ? {} : { status: statusSchema(version.status) }),
    },
    ...(version.specRequired === false ? {} : { required: ['spec'] }),
    ...(version.rules === undefined ? {} : { 'x-kubernetes-validations': [...version.rules] }),
  }
  return {
    name: version.name,
    served: version.served ?? true,
    storage: version.storage ?? single,
    schema,
    hasStatus: version.status !== undefined,
    printerColumns: version.printerColumns ?? [],
    ...(version.deprecationWarning === undefined ? {} : { deprecationWarning: version.deprecationWarning }),
    ...(version.scale === undefined ? {} : { scale: version.scale }),
  }
}

/**
 * Returns a copy of the schema. The copy contains only JSON values and the names of built-in types. `Type.Builtin` stores these names in
 * the schema under a symbol.
 */
function plainSchema(schema: TSchema): StructuralSchema {
  return plain(schema) as StructuralSchema
}

/** Returns the schema of a status without its `required` list, because a controller sets the fields of a status one by one. */
function statusSchema(schema: TSchema): StructuralSchema {
  const { required: _, ...status } = plainSchema(schema)
  return status
}

function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  const copy: JsonObject = {}
  for (const [key, item] of Object.entries(value)) if (item !== undefined) setOwn(copy, key, plain(item) as JsonValue)
  const builtin = builtinTypeOf(value)
  return builtin === undefined ? copy : withBuiltinType(copy, builtin)
}

function pluralOf(lower: string): string {
  if (/(s|x|z|ch|sh)$/.test(lower)) return `${lower}es`
  return /[^aeiou]y$/.test(lower) ? `${lower.slice(0, -1)}ies` : `${lower}s`
}

export type { TObject }
