/** Schema nodes of Kubernetes' built-in types. Each node is built on first use. All schemas of the process share the nodes. */
import { ProreusError } from '../api/errors.ts'
import type { JsonValue } from '../api/json.ts'
import type { StructuralSchema } from '../api/structural-schema.ts'
import type { BuiltinScalar, BuiltinValue } from '../builtin-schemas/types.ts'
import { builtinFields } from '../builtin-schemas/types.ts'
import type { SchemaNode } from './node.ts'
import { buildNode } from './node.ts'
import type { Pattern } from '../formats/patterns.ts'

const nodes = new Map<string, SchemaNode>()

/**
 * Returns the node of a built-in type.
 *
 * @throws {ProreusError} `PRO_INPUT` when the type does not exist.
 */
export function builtinNode(name: string): SchemaNode {
  const known = nodes.get(name)
  if (known !== undefined) return known
  const fields = builtinFields(name)
  if (fields === undefined) throw new ProreusError('PRO_INPUT', `Unknown built-in type ${JSON.stringify(name)}: a kind cannot embed it.`)
  const required = fields.filter((field) => field.required).map((field) => field.name)
  const node: SchemaNode = {
    ...decodedNode({ type: 'object', ...(required.length > 0 && { required }) }),
    typeName: name,
    properties: new Map(fields.map((field) => [field.name, valueNode(field.value)])),
    open: false,
  }
  nodes.set(name, node)
  return node
}

function valueNode(value: BuiltinValue): SchemaNode {
  switch (value.form) {
    case 'scalar':
      return scalarNode(value.scalar)
    case 'enum': {
      const values = [...value.values]
      return { ...decodedNode({ type: 'string', enum: values }), enum: [...values, '', null] }
    }
    case 'type':
      return builtinNode(value.name)
    case 'list': {
      const items = valueNode(value.items)
      return {
        ...decodedNode({ type: 'array' }),
        // A null item of a built-in type is rejected. Go decodes null as an empty object, and for most built-in types, an empty object
        // lacks required fields.
        items: items.typeName === undefined ? items : { ...items, nullable: false },
        ...(value.keys.length > 0 && { listType: 'map', listMapKeys: value.keys }),
      }
    }
    case 'map':
      return { ...decodedNode({ type: 'object' }), additional: valueNode(value.values), open: false }
  }
}

const schemas: Readonly<Record<Exclude<BuiltinScalar, 'quantity'>, StructuralSchema>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
  'int-or-string': { 'x-kubernetes-int-or-string': true },
  object: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}

function scalarNode(scalar: BuiltinScalar): SchemaNode {
  if (scalar === 'quantity') return { ...decodedNode({}), types: ['string', 'number'], pattern: quantity }
  return decodedNode(schemas[scalar])
}

/**
 * The pattern of a quantity. `source` is the pattern in kube-apiserver's error message. `test` accepts the same strings as
 * `resource.ParseQuantity`, which is stricter than `source`.
 */
const quantity: Pattern = {
  source: '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$',
  test: (text) => /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?$/.test(text),
}

/**
 * Returns true if a required field with this value counts as missing. As in kube-apiserver, null and an empty string count as missing in a
 * built-in type.
 */
export function isMissing({ decoded }: SchemaNode, value: JsonValue | undefined): boolean {
  return value === undefined || (decoded && (value === null || value === ''))
}

function decodedNode(schema: StructuralSchema): SchemaNode {
  return { ...buildNode(schema), decoded: true, nullable: true }
}
