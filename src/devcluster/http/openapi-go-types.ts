/**
 * Makes OpenAPI schemas from the Go structs of built-in types. Each struct becomes a component, and a component can refer to other
 * components.
 */
import type { JsonObject } from '../../api/json.ts'
import { setOwn } from '../../api/json.ts'
import type { GoField, GoType, StructType } from '../types/go-types.ts'

/**
 * The prefixes of component names, keyed by the protobuf package without its version. All other packages have the prefix
 * `io.k8s.api.PACKAGE`.
 */
const packages: Readonly<Record<string, string>> = {
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
  meta: 'io.k8s.apimachinery.pkg.apis.meta',
}

/** Returns the component name of a Go type, e.g. `io.k8s.api.apps.v1.DeploymentSpec`. */
export function goComponentName({ message }: StructType): string {
  const [holder = '', ...rest] = message.split('.')
  return [Object.hasOwn(packages, holder) ? packages[holder]! : `io.k8s.api.${holder}`, ...rest].join('.')
}

export function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}

/** Returns the schemas of the fields of a struct. Adds a component to `components` for each struct that the fields contain. */
export function fieldSchemas(struct: StructType, components: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const [name, field] of struct.fields) setOwn(result, name, fieldSchema(field, components))
  return result
}

/** Returns the schema of a field with the extensions for patches and for server-side apply. */
function fieldSchema(field: GoField, components: JsonObject): JsonObject {
  const schema = typeSchema(field.type, components)
  const extensions = mergeExtensions(field)
  return schema.$ref === undefined || Object.keys(extensions).length === 0
    ? { ...schema, ...extensions }
    : { allOf: [schema], ...extensions }
}

function mergeExtensions({ type, keys, atomic, mergeKey, strategy }: GoField): JsonObject {
  const listType = atomic ? 'atomic' : keys === undefined ? undefined : keys.length === 0 ? 'set' : 'map'
  return {
    ...(type.kind === 'list' && listType !== undefined && { 'x-kubernetes-list-type': listType }),
    ...(listType === 'map' && { 'x-kubernetes-list-map-keys': [...keys!] }),
    ...(atomic && (type.kind === 'map' || type.kind === 'struct') && { 'x-kubernetes-map-type': 'atomic' }),
    ...(mergeKey !== '' && { 'x-kubernetes-patch-merge-key': mergeKey }),
    ...(strategy === 'merge' && { 'x-kubernetes-patch-strategy': strategy }),
  }
}

/** Returns the schema of a Go type. Structs become components, because a type may contain itself. */
function typeSchema(type: GoType, components: JsonObject): JsonObject {
  switch (type.kind) {
    case 'scalar':
      return scalarSchema(type.scalar)
    case 'special':
      return specialSchema(type.special, components)
    case 'list':
      return { type: 'array', items: typeSchema(type.item, components) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.value, components) }
    case 'structOr':
      return { 'x-kubernetes-preserve-unknown-fields': true }
    case 'struct': {
      const name = goComponentName(type)
      if (!Object.hasOwn(components, name)) {
        // The component is added before its fields are visited. A field that contains the type itself then finds the component, and the
        // recursion ends.
        const component: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
        components[name] = component
        component.properties = fieldSchemas(type, components)
        if (type.atomic) component['x-kubernetes-map-type'] = 'atomic'
      }
      return refTo(name)
    }
  }
}

function scalarSchema(scalar: Extract<GoType, { kind: 'scalar' }>['scalar']): JsonObject {
  switch (scalar) {
    case 'string':
      return { type: 'string' }
    case 'int32':
    case 'int64':
      return { type: 'integer', format: scalar }
    case 'float64':
      return { type: 'number', format: 'double' }
    case 'bool':
      return { type: 'boolean' }
  }
}

/** The OpenAPI components for IntOrString, MicroTime, Quantity and Time. These Go types define their own JSON encoding. */
const specialComponents: Readonly<Record<'intOrString' | 'microTime' | 'quantity' | 'time', { name: string; schema: JsonObject }>> = {
  intOrString: {
    name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    schema: { description: 'An integer or a string.', oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
  },
  microTime: {
    name: `${packages.meta}.v1.MicroTime`,
    schema: { description: 'A time in the format of RFC 3339, with microseconds.', type: 'string', format: 'date-time' },
  },
  quantity: {
    name: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
    schema: { description: 'A quantity such as 100m, 1.5 or 2Gi.', oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  time: {
    name: `${packages.meta}.v1.Time`,
    schema: { description: 'A time in the format of RFC 3339.', type: 'string', format: 'date-time' },
  },
}

function specialSchema(special: Extract<GoType, { kind: 'special' }>['special'], components: JsonObject): JsonObject {
  switch (special) {
    case 'bytes':
      return { type: 'string', format: 'byte' }
    case 'duration':
      return { type: 'string' }
    case 'any':
      return { 'x-kubernetes-preserve-unknown-fields': true }
    default: {
      const { name, schema } = specialComponents[special]
      components[name] = schema
      return refTo(name)
    }
  }
}
