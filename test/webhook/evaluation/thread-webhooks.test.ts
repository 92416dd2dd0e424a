import t from 'tap'
import { defineKind } from '../../../src/api/kind.ts'
import { Type } from '../../../src/api/type.ts'
import { schemaOf } from '../../../src/schema/kind-schema.ts'
import { readThreadWebhooks, writeThreadWebhooks } from '../../../src/webhook/evaluation/thread-webhooks.ts'

const kind = defineKind({
  group: 'apps.example.com',
  kind: 'Holder',
  versions: [
    { name: 'v1', spec: Type.Object({ pods: Type.Array(Type.Builtin('PodSpec')), big: Type.Optional(Type.Integer({ format: 'int64' })) }) },
  ],
})

t.test('webhooks are passed to threads in order, with the schemas of their kinds and without handlers', async (t) => {
  const webhooks = [
    { schemaKind: kind, version: 'v1', subresource: '', handlers: { validate: () => [] } },
    { schemaKind: undefined, version: 'v2', subresource: 'exec' },
  ]
  const read = readThreadWebhooks(writeThreadWebhooks(webhooks))
  t.strictSame(
    read.map(({ version, subresource, ...others }) => [version, subresource, others.schemaKind?.kind, 'handlers' in others]),
    [
      ['v1', '', 'Holder', false],
      ['v2', 'exec', undefined, false],
    ],
  )
  const object = { spec: { pods: [{ containers: [{ name: 'a', typo: 1 }] }, { containers: [{ name: 1 }] }] } }
  const schema = schemaOf(read[0]!.schemaKind!, 'v1')
  const own = schemaOf(kind, 'v1')
  t.strictSame(schema.validate(object), own.validate(object))
  t.strictSame(
    schema.validate(object).map(({ path }) => path),
    ['spec.pods[1].containers[0].name'],
  )
  t.strictSame(schema.unknownFields(object), ['spec.pods[0].containers[0].typo'])
})
