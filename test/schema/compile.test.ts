import { Ajv } from 'ajv'
import t from 'tap'
import type { FieldError } from '../../src/api/field-error.ts'
import { formatFieldError } from '../../src/api/field-error.ts'
import type { JsonObject, JsonValue } from '../../src/api/json.ts'
import { deepFreeze } from '../../src/api/json.ts'
import type { StructuralSchema } from '../../src/api/structural-schema.ts'
import { compileSchema } from '../../src/schema/compile.ts'
import { maxNesting } from '../../src/schema/depth.ts'

const text = { type: 'string' } as const

t.test('a schema is compiled once', async (t) => {
  const schema: StructuralSchema = { type: 'object' }
  t.equal(compileSchema(schema), compileSchema(schema))
  t.not(compileSchema(schema), compileSchema({ type: 'object' }))
  t.equal(compileSchema(schema).schema, schema)
  t.ok(Object.isFrozen(compileSchema(schema)))
})

t.test('the check of a schema is compiled by the first validation, and only by it', async (t) => {
  const { compile } = Ajv.prototype
  let count = 0
  Ajv.prototype.compile = function (this: Ajv, ...args: [never]) {
    count += 1
    return compile.apply(this, args)
  } as typeof compile
  t.teardown(() => (Ajv.prototype.compile = compile))
  const compiled = compileSchema({ type: 'object', properties: { status: { type: 'object', properties: { a: text } } } })
  compiled.prune({ status: { b: 1 } })
  compiled.default({})
  t.equal(count, 0)
  for (const a of ['x', 5, 'y']) compiled.validate({ status: { a } })
  t.equal(count, 1)
  for (const a of ['x', 5, 'y']) compiled.validateStatus({ status: { a } })
  t.equal(count, 2, 'the status has its own')
})

t.test('a schema that the API server would refuse is an error with the path', async (t) => {
  t.throws(() => compileSchema({ type: 'object', properties: { a: {} } }), {
    code: 'PRO_SCHEMA_INVALID',
    message:
      /^The schema is invalid for a CustomResourceDefinition: properties\[a\]\.type: Required value: must not be empty for specified object fields\.$/,
  })
})

t.test('the error lists every problem and names the schema', async (t) => {
  t.throws(() => compileSchema({ type: 'object', properties: { a: {}, b: { type: 'array' } } }, 'of version v1 of Crate'), {
    code: 'PRO_SCHEMA_INVALID',
    message:
      'The schema of version v1 of Crate is invalid for a CustomResourceDefinition: ' +
      'properties[a].type: Required value: must not be empty for specified object fields; ' +
      'properties[b].items: Required value: must be specified.',
  })
})

t.test('an invalid schema is refused every time', async (t) => {
  const schema: StructuralSchema = { type: 'object', properties: { a: {} } }
  for (const name of ['first', 'second'])
    t.throws(() => compileSchema(schema, name), { code: 'PRO_SCHEMA_INVALID', message: new RegExp(`^The schema ${name} is invalid `) })
})

t.test('a valid object causes no copies', async (t) => {
  const compiled = compileSchema({ type: 'object', properties: { spec: { type: 'object', properties: { a: { ...text, default: 'x' } } } } })
  const object = deepFreeze({ spec: { a: 'y' } })
  t.equal(compiled.validate(object), compiled.validate({ spec: {} }), 'the same empty list')
  t.equal(compiled.default(object), object)
  t.equal(compiled.prune(object).object, object)
})

t.test('an update may keep an unchanged invalid list', async (t) => {
  const compiled = compileSchema({
    type: 'object',
    properties: { spec: { type: 'array', items: text, 'x-kubernetes-list-type': 'set', maxItems: 4 } },
  })
  const twice = { spec: ['a', 'a'] }
  const other = { spec: ['b', 'b'] }
  t.strictSame(
    compiled.validate(twice).map(({ path }) => path),
    ['spec[1]'],
  )
  t.strictSame(
    compiled.validate(twice, { spec: ['a'] }).map(({ path }) => path),
    ['spec[1]'],
  )
  t.strictSame(compiled.validate(twice, other), [])
  t.strictSame(
    compiled.validate({ spec: ['a', 'a', 'a', 'a', 'a'] }, other).map(({ path }) => path),
    ['spec'],
    'other errors are reported',
  )
})

const formatted = (errors: readonly FieldError[]): string[] => errors.map(formatFieldError)

t.test('the status is validated alone, with its path in the object', async (t) => {
  const status: StructuralSchema = {
    type: 'object',
    properties: {
      size: { type: 'integer', minimum: 1 },
      names: { type: 'array', items: text, 'x-kubernetes-list-type': 'set', maxItems: 9 },
      pod: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    },
  }
  const { validateStatus } = compileSchema({ type: 'object', required: ['spec'], properties: { status, spec: text } })
  t.strictSame(validateStatus({ status: { size: 1 } }), [])
  t.strictSame(validateStatus({ spec: 5 }), [], 'the schema has no status')
  const broken = { status: { size: 0, names: ['a', 'a'], pod: { kind: 'Pod' } } }
  const errors = [
    'status.size: Invalid value: 0: size in body should be greater than or equal to 1',
    'status.pod.apiVersion: Required value',
    'status.names[1]: Duplicate value: "a"',
  ]
  t.strictSame(formatted(validateStatus(broken)), errors)
  t.strictSame(formatted(validateStatus(broken, {})), errors, 'the old object has no status')
  t.strictSame(
    formatted(validateStatus(broken, broken)),
    ['status.pod.apiVersion: Required value'],
    'embedded resources are validated even when they are unchanged',
  )
  t.strictSame(formatted(validateStatus({ status: 'x' })), ['status: Invalid value: "string":  in body must be of type object: "string"'])
  t.strictSame(formatted(validateStatus({ status: null })), ['status: Invalid value: "null":  in body must be of type object: "null"'])
  t.strictSame(validateStatus({ status: {} }), [], 'an error before has no effect')
  t.strictSame(compileSchema({ type: 'object' }).validateStatus(broken), [], 'the schema does not restrict the status')
})

t.test('rules are evaluated after the structure, unless a structural error prevents it', async (t) => {
  const rule = { rule: 'self.a != "x"', message: 'a must not be x' }
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        'x-kubernetes-validations': [rule],
        properties: {
          a: { ...text, maxLength: 3, enum: ['x', 'y', 'long!'] },
          b: { type: 'integer', minimum: 1 },
          c: { type: 'array', items: text, maxItems: 1 },
          d: { type: 'object', required: ['e'], properties: { e: text } },
        },
      },
    },
  }
  const compiled = compileSchema(schema)
  const broken = 'spec: Invalid value: a must not be x'
  const skipped =
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
  const small = 'spec.b: Invalid value: 0: spec.b in body should be greater than or equal to 1'
  const cases: readonly (readonly [JsonObject, readonly string[]])[] = [
    [{ a: 'y' }, []],
    [{ a: 'x' }, [broken]],
    [{ a: 'x', b: 0 }, [small, broken]],
    [{ a: 'z' }, ['spec.a: Unsupported value: "z": supported values: "x", "y", "long!"', skipped]],
    [{ a: 'long!' }, ['spec.a: Too long: may not be more than 3 bytes', skipped]],
    [{ a: 'x', c: ['a', 'b'] }, ['spec.c: Too many: 2: must have at most 1 item', skipped]],
    [{ a: 'x', d: {} }, ['spec.d.e: Required value', skipped]],
    [{ a: 'x', b: 'y' }, ['spec.b: Invalid value: "string": spec.b in body must be of type integer: "string"', skipped]],
  ]
  for (const [spec, errors] of cases) {
    t.strictSame(formatted(compiled.validate({ spec })), errors)
    t.strictSame(
      formatted(compiled.validateStructure({ spec })),
      errors.filter((error) => error !== broken && error !== skipped),
    )
  }
  t.strictSame(formatted(compiled.validateRules({ spec: { a: 'x' } }, undefined, [])), [broken])
  const noRules = compileSchema({ type: 'object' })
  t.strictSame(noRules.validateRules({}, undefined, compiled.validate({ spec: 5 })), [], 'a schema without rules reports no skipped ones')
})

t.test('an unchanged value that violates a rule is a warning', async (t) => {
  const compiled = compileSchema({
    type: 'object',
    properties: {
      a: { ...text, 'x-kubernetes-validations': [{ rule: 'self != "x"', message: 'not x' }] },
      b: text,
    },
  })
  const warned: FieldError[] = []
  t.strictSame(
    compiled.validateRules({ a: 'x', b: 'new' }, { a: 'x' }, [], (warning) => warned.push(warning)),
    [],
  )
  t.strictSame(formatted(warned), ['a: Invalid value: "x": not x'])
  t.strictSame(formatted(compiled.validate({ a: 'x' }, { a: 'y' })), ['a: Invalid value: "x": not x'])
  t.strictSame(formatted(compiled.validate({ a: 'x' }, { a: 'x' })), [])
})

t.test('a converted object is pruned and loses nulls, but is not defaulted', async (t) => {
  const compiled = compileSchema({
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: text, b: { ...text, default: 'x' }, c: { ...text, nullable: true } } } },
  })
  const dropped: (readonly string[])[] = []
  const object = { spec: { a: null, b: null, c: null, z: 1, y: 2 }, other: 1 }
  t.strictSame(
    compiled.convert(object, (paths) => dropped.push(paths)),
    { spec: { b: null, c: null } },
  )
  t.strictSame(dropped, [['other', 'spec.y', 'spec.z']])
  t.strictSame(compiled.convert(object), { spec: { b: null, c: null } })
  const kept = deepFreeze({ spec: { a: 'x' } })
  t.equal(
    compiled.convert(kept, () => t.fail('nothing was dropped')),
    kept,
  )
  t.strictSame(
    compiled.convert({ spec: { z: 1 } }, (paths) => dropped.push(paths)),
    { spec: {} },
  )
  t.strictSame(dropped[1], ['spec.z'])
})

t.test('the metadata of the object itself is left to validateObjectMeta', async (t) => {
  const compiled = compileSchema({
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: { ...text, maxLength: 3 } } } },
  })
  t.strictSame(compiled.validate({ metadata: { name: 'A B', labels: 'none' } }), [])
  const plain = compileSchema({ type: 'object', properties: { metadata: { type: 'object' } } })
  const deep = JSON.parse(`${'{"a":'.repeat(maxNesting + 1)}1${'}'.repeat(maxNesting + 1)}`) as JsonValue
  t.strictSame(plain.validate({ metadata: { annotations: deep } }), [])
  t.strictSame(
    compiled.validate({ metadata: { name: 'abcd' } }).map(({ path }) => path),
    ['metadata.name'],
    'validations of the schema are reported',
  )
})

t.test('nesting is limited where the schema has no limit', async (t) => {
  const free: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const compiled = compileSchema({ type: 'object', properties: { spec: free } })
  const nested = (levels: number, innermost = '1'): JsonObject => ({
    spec: JSON.parse(`${'{"a":'.repeat(levels)}${innermost}${'}'.repeat(levels)}`) as JsonValue,
  })
  for (const innermost of ['1', 'null', '"x"', 'true']) t.strictSame(compiled.validate(nested(maxNesting, innermost)), [], innermost)
  for (const innermost of ['{}', '[]', '{"b":null}']) t.equal(compiled.validate(nested(maxNesting, innermost)).length, 1, innermost)
  t.strictSame(compiled.validate(nested(maxNesting + 1)), [
    { path: 'spec', reason: 'FieldValueInvalid', message: 'Invalid value: "object": must not be nested deeper than 1000 levels' },
  ])
})

t.test('no object can exhaust the stack', async (t) => {
  const levels = 100_000
  const deepList = JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as JsonValue
  const deepObject = JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as JsonValue
  const item: StructuralSchema = { type: 'object', required: ['a'], properties: { a: text } }
  const fields: Record<string, StructuralSchema> = {
    scalar: text,
    choice: { ...text, enum: ['a'] },
    enum: { 'x-kubernetes-preserve-unknown-fields': true, enum: ['a', { a: { a: 1 } }] },
    map: { type: 'object', additionalProperties: text },
    free: { 'x-kubernetes-preserve-unknown-fields': true },
    closed: { type: 'object', properties: {} },
    atomic: { type: 'object', additionalProperties: true },
    list: { type: 'array', items: text },
    listMap: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
    listSet: {
      type: 'array',
      items: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { b: text } },
      'x-kubernetes-list-type': 'set',
    },
    resource: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  }
  for (const [name, schema] of Object.entries(fields)) {
    const compiled = compileSchema({ type: 'object', properties: { spec: schema } })
    for (const value of [
      deepList,
      deepObject,
      [deepList],
      [deepObject],
      [
        { a: 'x', b: deepObject },
        { a: 'x', c: deepList },
      ],
      { a: deepList },
      { a: [deepObject] },
    ]) {
      const object = { spec: value }
      compiled.default(object)
      compiled.prune(object)
      t.ok(compiled.validate(object).length > 0, `${name} is refused`)
    }
  }
})
