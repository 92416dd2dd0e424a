/** The schemas in the OpenAPI v3 documents. Schemas of custom resources are made from CRDs, and schemas of built-in types from Go types. */
import { apiVersionOf } from '../../api/group-version-kind.ts'
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { setOwn } from '../../api/json.ts'
import type { StructuralSchema } from '../../api/structural-schema.ts'
import type { ResourceInfo } from '../rest/resource-info.ts'
import type { Shape } from '../types/check-json-types.ts'
import { shapeOf } from '../types/go-shape.ts'
import type { StructType } from '../types/go-types.ts'
import { kindType } from '../types/go-types.ts'
import { metaPrefix, metaSchemas } from './openapi-meta.ts'

const objectMeta = `${metaPrefix}.ObjectMeta`
const listMeta = `${metaPrefix}.ListMeta`

const apiVersion: JsonObject = {
  type: 'string',
  description:
    'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources',
}
const kind: JsonObject = {
  type: 'string',
  description:
    'Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds',
}

export function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}

/** Returns a reference with a description; OpenAPI 3.0 does not allow a description next to `$ref`. */
function describedRef(name: string, description: string): JsonObject {
  return { description, allOf: [refTo(name)] }
}

const metadata = describedRef(
  objectMeta,
  "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
)

/** The type of all scale subresources. */
export const scaleType = { group: 'autoscaling', version: 'v1', kind: 'Scale', custom: false }

/** The fields that determine a component's name. */
type ComponentType = Pick<ResourceInfo, 'group' | 'version' | 'custom'>

/** Returns the component name of a type: `io.k8s.api.apps.v1.Deployment`, `com.example.cache.v1.Memcached`. */
export function componentName(info: ComponentType, kindName: string): string {
  const prefix = info.custom
    ? info.group.split('.').reverse().join('.')
    : `io.k8s.api.${info.group === '' ? 'core' : info.group.split('.')[0]!}`
  return `${prefix}.${info.version}.${kindName}`
}

/** Returns all component schemas for the types of one group version. */
export function componentsOf(rows: readonly ResourceInfo[]): JsonObject {
  const components: JsonObject = { ...metaSchemas }
  for (const info of rows) {
    components[componentName(info, info.kind)] = {
      ...objectSchema(info, components),
      'x-kubernetes-group-version-kind': [gvkOf(info, info.kind)],
    }
    if (info.verbs.includes('list')) components[componentName(info, info.listKind)] = listSchema(info)
    if (Object.values(info.subresources).some(({ kind }) => kind === scaleType.kind))
      components[componentName(scaleType, scaleType.kind)] = builtinSchema(scaleType, kindType(scaleType), components)
  }
  return components
}

export function gvkOf(type: { readonly group: string; readonly version: string }, kindName: string): JsonObject {
  return { group: type.group, kind: kindName, version: type.version }
}

function objectSchema(info: ResourceInfo, components: JsonObject): JsonObject {
  if (info.openapi === undefined) return builtinSchema(info, info.goType, components)
  const schema = published(info.openapi)
  return { ...schema, properties: { apiVersion, kind, metadata, ...withoutTypeMeta(schema.properties) }, ...selectableFields(info) }
}

function builtinSchema(
  type: ComponentType & { readonly kind: string },
  goType: StructType | undefined,
  components: JsonObject,
): JsonObject {
  const fields = goType === undefined ? {} : fieldsOf(shapeOf(goType).fields, type, components)
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
  const items = { type: 'array', description: `List of ${info.plural}.`, items: refTo(componentName(info, info.kind)) }
  return {
    type: 'object',
    description: `${info.listKind} is a list of ${info.kind}.`,
    required: ['items'],
    properties: { apiVersion, kind, metadata: describedRef(listMeta, 'Standard list metadata.'), items },
    'x-kubernetes-group-version-kind': [gvkOf(info, info.listKind)],
    ...selectableFields(info),
  }
}

function withoutTypeMeta(properties: JsonValue | undefined): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = (properties ?? {}) as JsonObject
  return rest
}

/** Returns a CRD's schema as it is published in OpenAPI: embedded resources get apiVersion, kind and metadata. */
function published(schema: StructuralSchema): JsonObject {
  const { properties, items, additionalProperties, ...rest } = schema
  const result = { ...rest } as JsonObject
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const embedded: JsonObject = isEmbedded ? { apiVersion, kind, metadata } : {}
  if (isEmbedded) result.required = [...new Set([...(schema.required ?? []), 'kind', 'apiVersion'])]
  if (schema['x-kubernetes-int-or-string'] === true) result.anyOf ??= [{ type: 'integer' }, { type: 'string' }]
  if (properties !== undefined || Object.keys(embedded).length > 0) {
    const fields: JsonObject = {}
    for (const [name, field] of Object.entries(properties ?? {})) setOwn(fields, name, published(field))
    result.properties = { ...fields, ...embedded }
  }
  if (items !== undefined) result.items = published(items)
  if (additionalProperties !== undefined) {
    result.additionalProperties = typeof additionalProperties === 'boolean' ? additionalProperties : published(additionalProperties)
  }
  return result
}

function fieldsOf(fields: Readonly<Record<string, Shape>>, owner: ComponentType, components: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const [name, shape] of Object.entries(fields)) setOwn(result, name, shapeSchema(shape, owner, components))
  return result
}

/** Returns the schema of a Go type. Structs become named components, because a type may contain itself. */
function shapeSchema(shape: Shape, owner: ComponentType, components: JsonObject): JsonObject {
  if (typeof shape === 'string') return leafSchema(shape)
  if ('mapOf' in shape) return { type: 'object', additionalProperties: shapeSchema(shape.mapOf, owner, components) }
  if ('objectOr' in shape) return { 'x-kubernetes-preserve-unknown-fields': true }
  if (!('fields' in shape)) return { type: 'array', items: shapeSchema(shape[0], owner, components) }
  const name = shape.type === 'ObjectMeta' ? objectMeta : componentName(owner, shape.type)
  if (!Object.hasOwn(components, name)) {
    // The component is added before its fields are visited. A field that contains the type itself then finds the component, and the
    // recursion ends.
    const component: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    components[name] = component
    component.properties = fieldsOf(shape.fields, owner, components)
  }
  return refTo(name)
}

function leafSchema(shape: Extract<Shape, string>): JsonObject {
  switch (shape) {
    case 'string':
      return { type: 'string' }
    case 'bytes':
      return { type: 'string', format: 'byte' }
    case 'time':
    case 'microTime':
      return { type: 'string', format: 'date-time' }
    case 'quantity':
      return { oneOf: [{ type: 'string' }, { type: 'number' }], description: 'A quantity such as 100m, 1.5 or 2Gi.' }
    case 'int32':
    case 'int64':
      return { type: 'integer', format: shape }
    case 'float64':
      return { type: 'number', format: 'double' }
    case 'bool':
      return { type: 'boolean' }
    case 'intOrString':
      return { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' }
    case 'any':
      return { 'x-kubernetes-preserve-unknown-fields': true }
  }
}
