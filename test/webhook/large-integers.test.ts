import t from 'tap'
import type { Client } from '../../src/client/client.ts'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { createWebhookServer } from '../../src/webhook/server.ts'
import { changeableSource } from '../support/webhook/fixture.ts'
import type { ReviewAnswer } from '../support/webhook/fixture.ts'

const ledger = defineKind({
  group: 'large.example.com',
  kind: 'Ledger',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        total: Type.Integer({ maximum: 9_007_199_254_740_992 }),
        tens: Type.Optional(Type.Integer({ multipleOf: 10 })),
        entries: Type.Optional(
          Type.Array(Type.Object({ id: Type.Integer(), text: Type.String({ default: '' }) }), { listType: 'map', listMapKeys: ['id'] }),
        ),
        note: Type.Optional(Type.String()),
        open: Type.Optional(Type.Unknown()),
      }),
    },
  ],
})

function reviewOf(spec: string): string {
  const object = `{"apiVersion":"large.example.com/v1","kind":"Ledger","metadata":{"name":"l","namespace":"ns"},"spec":${spec}}`
  return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","kind":{"group":"large.example.com","version":"v1","kind":"Ledger"},"name":"l","namespace":"ns","operation":"CREATE","userInfo":{"username":"jane"},"object":${object}}}`
}

t.test('integers beyond 2^53 in admission', async (t) => {
  const seen: unknown[] = []
  const server = createWebhookServer({
    webhooks: [
      defineWebhook(ledger, {
        default: (object) => {
          seen.push(object.spec.total)
          return object.spec.note === undefined
            ? object
            : { ...object, spec: { ...object.spec, entries: [...(object.spec.entries ?? []), { id: 1, text: '' }] } }
        },
      }),
    ],
    client: {} as Client,
    certificates: await changeableSource(),
    port: 0,
    logger: silentLogger(),
    metrics: new Metrics(),
  })
  t.after(() => server.stop(0))
  const ask = async (verb: string, spec: string): Promise<ReviewAnswer> => {
    const url = `/${verb}-large-example-com-v1-ledger`
    const answer = await server.app.inject({
      method: 'POST',
      url,
      payload: reviewOf(spec),
      headers: { 'content-type': 'application/json' },
    })
    t.equal(answer.statusCode, 200, answer.body.slice(0, 200))
    return answer.json<{ response: ReviewAnswer }>().response
  }
  const patchText = ({ patch }: ReviewAnswer): string => Buffer.from(patch ?? '', 'base64').toString()

  await t.test('are validated and reported with all digits', async (t) => {
    const cases: [string, string][] = [
      [
        '{"total":9007199254740993}',
        'spec.total: Invalid value: 9007199254740993: spec.total in body should be less than or equal to 9007199254740992',
      ],
      ['{"total":9223372036854775808}', 'spec.total: Invalid value: "number": spec.total in body must be of type integer: "number"'],
      ['{"total":1,"tens":9007199254740993}', 'spec.tens: Invalid value: 9007199254740993: spec.tens in body should be a multiple of 10'],
      ['{"total":1,"note":9007199254740993}', 'spec.note: Invalid value: "integer": spec.note in body must be of type string: "integer"'],
      [
        '{"total":1,"entries":[{"id":9007199254740993},{"id":9007199254740993}]}',
        'spec.entries[1]: Duplicate value: {"id":9007199254740993}',
      ],
    ]
    for (const [spec, problem] of cases) {
      const { allowed, status } = await ask('validate', spec)
      t.equal(allowed, false)
      t.match(status?.message, problem)
    }
    for (const spec of [
      '{"total":9007199254740992}',
      '{"total":-9223372036854775808}',
      '{"total":1,"tens":9007199254740990}',
      '{"total":1,"entries":[{"id":9007199254740993},{"id":9007199254740992}]}',
      '{"total":1,"open":{"a":[9007199254740993]}}',
    ])
      t.match(await ask('validate', spec), { allowed: true }, spec)
  })
  await t.test('are bigints in handlers', async (t) => {
    seen.length = 0
    await ask('mutate', '{"total":-9007199254740993}')
    await ask('mutate', '{"total":-1}')
    t.strictSame(seen, [-9007199254740993n, -1])
  })
  await t.test('are unchanged in patches', async (t) => {
    t.equal(patchText(await ask('mutate', '{"total":-9007199254740993}')), '')
    const list = await ask('mutate', '{"total":-9007199254740993,"note":"n","entries":[{"id":9007199254740993}]}')
    const operations = patchText(list)
    t.notMatch(operations, '9007199254740992')
    t.match(operations, '"path":"/spec/entries/')
    const text = await ask('mutate', '{"total":-1,"note":"n","entries":[{"id":9007199254740993,"text":"a"},{"text":"b"}]}')
    t.match(text.status?.message ?? '', 'spec.entries[1].id: Required value')
  })
})
