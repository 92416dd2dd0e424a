/** The schemas in the OpenAPI v3 documents. Schemas of custom resources are made from CRDs, and schemas of built-in types from Go types. */
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { setOwn } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { SubresourceInfo } from '../rest/subresource.ts'
import { kindType } from '../types/go-types.ts'
import { fieldSchemas, goComponentName, refTo } from './openapi-go-types.ts'
import { metaPrefix, metaSchemas } from './openapi-meta.ts'
import { supportedSchema } from './openapi-v2-schemas.ts'

const objectMeta = `${metaPrefix}.ObjectMeta`
const listMeta = `${metaPrefix}.ListMeta`

const conventions = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'

const apiVersion: JsonObject = {
  type: 'string',
  description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${conventions}#resources`,
}
const kind: JsonObject = {
  type: 'string',
  description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${conventions}#types-kinds`,
}

/**
 * Returns a schema with a reference and a description. `allOf` contains the reference, because OpenAPI 3.0 does not allow a description
 * next to `$ref`.
 */
function describedRef(name: string, description: string): JsonObject {
  return { description, allOf: [refTo(name)] }
}

const metadata = describedRef(objectMeta, `Standard object's metadata. More info: ${conventions}#metadata`)

/** The fields that an embedded resource has in addition to the fields of its schema. */
const embeddedFields: JsonObject = {
  apiVersion: {
    type: 'string',
    description: `apiVersion defines the versioned schema of this representation of an object. More info: ${conventions}#resources`,
  },
  kind: {
    type: 'string',
    description: `kind is a string value representing the type of this object. In CamelCase. More info: ${conventions}#types-kinds`,
  },
  metadata,
}

/** The type of the objects that a component describes. */
type ComponentType = Pick<ResourceInfo, 'group' | 'version' | 'custom' | 'goType'>

/** Returns the component name of a kind or of its list, e.g. `io.k8s.api.apps.v1.Deployment` or `com.example.cache.v1.Memcached`. */
export function componentName({ group, version, custom, goType }: ComponentType, kindName: string): string {
  if (goType !== undefined) return goComponentName(goType).replace(/[^.]+$/, kindName)
  const prefix = custom ? group.split('.').reverse().join('.') : `io.k8s.api.${group === '' ? 'core' : group.split('.')[0]!}`
  return `${prefix}.${version}.${kindName}`
}

type KindType = ComponentType & Pick<ResourceInfo, 'kind'>

/**
 * Returns the type of the objects that a subresource reads and writes. This is either the type that has the subresource, e.g. for `status`,
 * or another type, e.g. Scale for `scale`.
 */
export function subresourceType(info: KindType, { group, version, kind: ofSubresource }: SubresourceInfo): KindType {
  if (ofSubresource === info.kind) return info
  const id = { group: group ?? info.group, version: version ?? info.version, kind: ofSubresource }
  const goType = kindType(id)
  return { ...id, custom: false, ...(goType !== undefined && { goType }) }
}

/**
 * Returns all component schemas for the types of one group version, in the notation of OpenAPI v3. If `version` is `v2`, the schemas of
 * custom resources lack the parts that OpenAPI v2 does not support. The caller then converts all schemas with `v2Schema`.
 */
export function componentsOf(rows: readonly ResourceInfo[], version: OpenApiVersion = 'v3'): JsonObject {
  const components: JsonObject = { ...metaSchemas }
  for (const info of rows) {
    components[componentName(info, info.kind)] = {
      ...objectSchema(info, components, version),
      'x-kubernetes-group-version-kind': [gvkOf(info, info.kind)],
    }
    if (info.verbs.includes('list')) components[componentName(info, info.listKind)] = listSchema(info)
    for (const subresource of Object.values(info.subresources)) {
      const type = subresourceType(info, subresource)
      const name = componentName(type, type.kind)
      if (type.goType !== undefined && !Object.hasOwn(components, name))
        components[name] = { ...builtinSchema(type, components), 'x-kubernetes-group-version-kind': [gvkOf(type, type.kind)] }
    }
  }
  return components
}

export function gvkOf(type: { readonly group: string; readonly version: string }, kindName: string): JsonObject {
  return { group: type.group, kind: kindName, version: type.version }
}

type OpenApiVersion = 'v2' | 'v3'

/** Returns the schema of a type (for CRDs, k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder: buildKubeNative). */
function objectSchema(info: ResourceInfo, components: JsonObject, version: OpenApiVersion): JsonObject {
  if (info.openapi === undefined) return builtinSchema(info, components)
  if (version === 'v2' && info.openapi['x-kubernetes-preserve-unknown-fields'] === true)
    return { type: 'object', ...selectableFields(info) }
  const schema = published(version === 'v2' ? supportedSchema(info.openapi) : info.openapi, version)
  return { ...schema, properties: { apiVersion, kind, metadata, ...withoutTypeMeta(schema.properties) }, ...selectableFields(info) }
}

function builtinSchema(type: KindType, components: JsonObject): JsonObject {
  const fields = type.goType === undefined ? {} : fieldSchemas(type.goType, components)
  return {
    type: 'object',
    description: `${type.kind} of the API version ${apiVersionOf(type)}.`,
    properties: { apiVersion, kind, ...withoutTypeMeta(fields), metadata },
    'x-kubernetes-preserve-unknown-fields': true,
  }
}

/** Returns the selectable fields, which are published for custom resources only. */
function selectableFields({ custom, selectableFields: select }: ResourceInfo): JsonObject {
  const paths = custom ? Object.keys(select({})) : []
  return paths.length === 0 ? {} : { 'x-kubernetes-selectable-fields': paths.map((fieldPath) => ({ fieldPath })) }
}

function listSchema(info: ResourceInfo): JsonObject {
  const items = {
    type: 'array',
    description: `List of ${info.plural}. More info: ${conventions}`,
    items: refTo(componentName(info, info.kind)),
  }
  return {
    type: 'object',
    description: `${info.listKind} is a list of ${info.kind}`,
    required: ['items'],
    properties: {
      apiVersion,
      kind,
      metadata: describedRef(listMeta, `Standard list metadata. More info: ${conventions}#types-kinds`),
      items,
    },
    'x-kubernetes-group-version-kind': [gvkOf(info, info.listKind)],
    ...selectableFields(info),
  }
}

function withoutTypeMeta(properties: JsonValue | undefined): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = (properties ?? {}) as JsonObject
  return rest
}

/**
 * Converts a CRD's schema to the schema in the OpenAPI documents. Embedded resources get the additional fields apiVersion, kind and
 * metadata.
 */
function published(schema: StructuralSchema, version: OpenApiVersion): JsonObject {
  const { properties, items, additionalProperties, ...rest } = schema
  const result = { ...rest } as JsonObject
  // In OpenAPI v2, an embedded resource that preserves unknown fields has no `embeddedFields`. If the schema contained these fields,
  // kubectl would reject all other fields.
  const isOpen = version === 'v2' && schema['x-kubernetes-preserve-unknown-fields'] === true
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true && !isOpen
  const embedded: JsonObject = isEmbedded ? embeddedFields : {}
  if (isEmbedded) result.required = [...new Set([...(schema.required ?? []), 'kind', 'apiVersion'])]
  if (schema['x-kubernetes-int-or-string'] === true) result.anyOf ??= [{ type: 'integer' }, { type: 'string' }]
  if (properties !== undefined || Object.keys(embedded).length > 0) {
    const fields: JsonObject = {}
    for (const [name, field] of Object.entries(properties ?? {})) setOwn(fields, name, published(field, version))
    result.properties = { ...fields, ...embedded }
  }
  if (items !== undefined) result.items = published(items, version)
  if (additionalProperties !== undefined) {
    result.additionalProperties =
      typeof additionalProperties === 'boolean' ? additionalProperties : published(additionalProperties, version)
  }
  return result
}
