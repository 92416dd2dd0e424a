/** Makes the `Shape` of a built-in type from its Go type. Objects of the type are checked against this shape. */
import type { ObjectShape, Shape } from './check-json-types.ts'
import type { GoType, StructType } from './go-types.ts'

const shapes = new WeakMap<StructType, ObjectShape>()

export function shapeOf(struct: StructType): ObjectShape {
  const known = shapes.get(struct)
  if (known !== undefined) return known
  let fields: ObjectShape['fields'] | undefined
  const shape: ObjectShape = {
    type: struct.name,
    // `fields` is computed at the first access. A type such as JSONSchemaProps contains itself, so computing all fields at once would never
    // end.
    get fields() {
      fields ??= Object.fromEntries([...struct.fields].map(([name, { type }]) => [name, fieldShape(type)]))
      return fields
    },
  }
  shapes.set(struct, shape)
  return shape
}

function fieldShape(type: GoType): Shape {
  switch (type.kind) {
    case 'scalar':
      return type.scalar
    case 'special':
      return type.special === 'duration' ? 'string' : type.special
    case 'list':
      return [fieldShape(type.item)]
    case 'map':
      return { mapOf: fieldShape(type.value) }
    case 'struct':
      return shapeOf(type)
    case 'structOr':
      return { objectOr: shapeOf(type.struct) }
  }
}
