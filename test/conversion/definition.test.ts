import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import type { Infer, InferInput } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import type { Converted } from '../../src/conversion/definition.ts'
import { defineConversion, missingConverters } from '../../src/conversion/definition.ts'
import { defineOperator } from '../../src/manager/operator.ts'

const lamp = defineKind({
  group: 'example.com',
  kind: 'Lamp',
  versions: [
    { name: 'v2', storage: true, spec: Type.Object({ mode: Type.Enum(['on', 'off', 'dimmed'], { default: 'off' }), room: Type.String() }) },
    { name: 'v1', spec: Type.Object({ on: Type.Boolean(), room: Type.String() }), status: Type.Object({ lit: Type.Boolean() }) },
    { name: 'v1beta1', spec: Type.Object({ on: Type.Boolean(), room: Type.String() }), status: Type.Object({ lit: Type.String() }) },
  ],
})
const v1 = {
  toHub: ({ spec }: Infer<typeof lamp, 'v1'>) => ({ spec: { mode: spec.on ? 'on' : 'off', room: spec.room } }) as const,
  fromHub: ({ spec }: Infer<typeof lamp>) => ({ spec: { on: spec.mode !== 'off', room: spec.room }, status: { lit: true } }),
}

t.test('converters are typed from the schemas, and literals need no "as const"', async (t) => {
  const defined = defineConversion(lamp, {
    converters: {
      v1: {
        toHub: ({ spec, metadata: { name } }, { from }) => ({
          spec: { mode: spec.on ? 'on' : 'dimmed', room: `${name} ${from}` },
          metadata: { labels: { a: 'b' } },
        }),
        fromHub: async ({ spec }) => ({ spec: { on: spec.mode === 'on', room: spec.room }, status: undefined }),
      },
      v1beta1: {
        toHub: ({ spec: { room } }) => ({ spec: { room } }),
        fromHub: ({ spec }) => ({ spec: { on: spec.mode === 'on', room: spec.room }, status: { lit: 'yes' } }),
      },
    },
  })
  t.strictSame([...defined.spokes.keys()], ['v1', 'v1beta1'])
  t.equal(defined.lossless, true)

  t.throws(() =>
    defineConversion(lamp, {
      converters: {
        // @ts-expect-error the kind has no version v7
        v7: v1,
      },
    }),
  )
  t.throws(() =>
    defineConversion(lamp, {
      converters: {
        // @ts-expect-error the enum of the hub does not contain bright
        v1: { ...v1, toHub: ({ spec }) => ({ spec: { mode: 'bright', room: spec.room } }) },
      },
    }),
  )
  t.throws(() =>
    defineConversion(lamp, {
      converters: {
        // @ts-expect-error the field room is missing
        v1: { ...v1, fromHub: () => ({ spec: { on: true }, status: undefined }) },
      },
    }),
  )
})

t.test('a status with other fields must be converted', async () => {
  type To<From extends 'v1' | 'v1beta1', Version extends 'v1' | 'v1beta1'> = Converted<
    Infer<typeof lamp, From>,
    Infer<typeof lamp, Version>,
    InferInput<typeof lamp, Version>
  >
  const spec = { on: true, room: 'a' }
  const same: To<'v1', 'v1'> = { spec }
  // @ts-expect-error the status must be converted, because its field lit is a string in v1beta1
  const other: To<'v1', 'v1beta1'> = { spec }
  const none: To<'v1', 'v1beta1'> = { spec, status: undefined }
  void [same, other, none]
})

t.test('missing converters are reported with the code to write', async (t) => {
  t.throws(() => defineConversion(lamp, { converters: { v1 } }), {
    code: 'PRO_KIND_INVALID',
    message:
      'The conversion of Lamp.example.com is invalid: v1beta1 differs from v2 (spec.mode, spec.on, status): write defineConversion(kind, { converters: { v1beta1: { toHub: …, fromHub: … } } }).',
  })
  const wrong = { v2: { fromHub: v1.fromHub }, v3: v1, v1: { toHub: v1.toHub } } as never
  t.throws(() => defineConversion(lamp, { converters: wrong }), {
    message:
      'The conversion of Lamp.example.com is invalid: v2 is the stored version, to and from which the others are converted; there is no version v3; there are v1, v1beta1; v2 has no toHub; v1 has no fromHub; v1beta1 differs from v2 (spec.mode, spec.on, status): write defineConversion(kind, { converters: { v1beta1: { toHub: …, fromHub: … } } }).',
  })
  const single = defineKind({ group: 'example.com', kind: 'Single', versions: [{ name: 'v1', spec: Type.Object({}) }] })
  t.throws(() => defineConversion(single, { converters: { v2: v1 } as never }), {
    message: 'The conversion of Single.example.com is invalid: there is no version v2; there are no others than the stored one.',
  })
})

t.test('an operator converts each of its kinds once', async (t) => {
  const conversions = [defineConversion(lamp, { converters: { v1, v1beta1: { toHub: v1.toHub as never, fromHub: v1.fromHub as never } } })]
  t.strictSame(defineOperator({ name: 'lamp', kinds: [lamp], conversions }).conversions, conversions)
  const message = (conversions: object[], kinds: object[]) => () => defineOperator({ name: 'lamp', kinds, conversions } as never)
  t.throws(message([], [lamp]), {
    code: 'PRO_CONFIG_INVALID',
    message: /conversions: missing for Lamp\.example\.com: v1 differs from v2 \(spec\.mode, spec\.on, status\): write defineConversion/,
  })
  t.throws(message([...conversions, ...conversions], [lamp]), { message: /conversions: there are two for Lamp\.example\.com/ })
  t.throws(message(conversions, []), { message: /conversions: Lamp\.example\.com is not one of the operator's kinds/ })
})

t.test('versions with the same fields need no converter, despite other differences', async (t) => {
  const specs = {
    stricter: [Type.Object({ a: Type.String() }), Type.Object({ a: Type.Optional(Type.String({ maxLength: 5, description: 'x' })) })],
    'other default': [Type.Object({ a: Type.Integer({ default: 1 }) }), Type.Object({ a: Type.Integer() })],
    'fewer values': [Type.Object({ a: Type.Enum(['x', 'y']) }), Type.Object({ a: Type.Enum(['y']) })],
    'a map with bounds': [Type.Record(Type.Integer()), Type.Record(Type.Integer({ minimum: 1 }))],
  }
  for (const [name, [spec, other]] of Object.entries(specs)) {
    const kind = defineKind({
      group: 'example.com',
      kind: 'Same',
      versions: [
        { name: 'v1', storage: true, spec: spec! },
        { name: 'v1beta1', spec: other! },
      ],
    })
    t.doesNotThrow(() => defineOperator({ name: 'same', kinds: [kind] }), name)
  }
})

t.test('versions differ if the meaning of a value changes', async (t) => {
  const differing = [
    [Type.Object({ a: Type.String() }), Type.Object({ a: Type.Integer() }), 'spec.a'],
    [Type.Object({ a: Type.Enum(['x', 'y']) }), Type.Object({ a: Type.Enum(['x', 'z']) }), 'spec.a'],
    [Type.Object({ a: Type.Array(Type.String()) }), Type.Object({ a: Type.Array(Type.Boolean()) }), 'spec.a[]'],
    [Type.Object({ a: Type.Record(Type.String()) }), Type.Object({ a: Type.Record(Type.Boolean()) }), 'spec.a.*'],
    [Type.Object({ a: Type.String() }), Type.Object({ a: Type.Nullable(Type.String()) }), 'spec.a'],
    [Type.Object({ a: Type.Unknown() }), Type.Object({ a: Type.Object({}) }), 'spec.a'],
    [Type.Object({ a: Type.IntOrString() }), Type.Object({ a: Type.String() }), 'spec.a'],
  ] as const
  for (const [spec, other, path] of differing) {
    const kind = defineKind({
      group: 'example.com',
      kind: 'Other',
      versions: [
        { name: 'v1', storage: true, spec },
        { name: 'v1beta1', spec: other },
      ],
    })
    t.throws(() => defineOperator({ name: 'other', kinds: [kind] }), { message: `v1beta1 differs from v1 (${path}):` } as never, path)
  }
})

t.test('at most three differing places are named', async (t) => {
  const spec = (...names: string[]) => Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()])))
  const kind = (...names: string[]) =>
    defineKind({
      group: 'example.com',
      kind: 'Other',
      versions: [
        { name: 'v1', storage: true, spec: spec() },
        { name: 'v2', spec: spec(...names) },
      ],
    })
  const start = 'v2 differs from v1'
  const end = 'write defineConversion(kind, { converters: { v2: { toHub: …, fromHub: … } } })'
  t.strictSame(missingConverters(kind('a', 'b', 'c')), [`${start} (spec.a, spec.b, spec.c): ${end}`])
  t.strictSame(missingConverters(kind('a', 'b', 'c', 'd')), [`${start} (spec.a, spec.b, spec.c, …): ${end}`])
  t.strictSame(missingConverters(kind('a'), new Map([['v2', {}]])), [])
  t.strictSame(missingConverters(kind()), [])
})

t.test('a definition has its kind, its converters and lossless', async (t) => {
  const converters = { v1, v1beta1: { toHub: v1.toHub as never, fromHub: v1.fromHub as never } }
  const defined = defineConversion(lamp, { converters, lossless: false })
  t.strictSame([defined.kind === lamp, defined.lossless, [...defined.spokes.keys()]], [true, false, ['v1', 'v1beta1']])
  t.equal(defined.spokes.get('v1'), v1)
  t.ok(Object.isFrozen(defined))
  t.throws(() => defineConversion(lamp, { converters: { ...converters, v1: undefined } as never }), {
    message: /^The conversion of Lamp\.example\.com is invalid: v1 differs from v2 \(spec\.mode, spec\.on, status\): write/,
  })
})

t.test('invalid settings are refused', async (t) => {
  const refused = (settings: unknown, message: string): void => {
    t.throws(() => defineConversion(lamp, settings as never), {
      code: 'PRO_KIND_INVALID',
      message: `The conversion of Lamp.example.com is invalid: ${message}.`,
    })
  }
  refused({}, 'converters: is missing')
  refused({ converters: {}, lossless: 'no' }, 'lossless: must be true or false, found "no"')
})
