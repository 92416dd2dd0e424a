/** Tests that the main thread and a worker thread respond to the same reviews in the same way. `SEED=…` selects other reviews. */
import t from 'tap'
import type { Test } from 'tap'
import { invalid } from '../../../src/api/field-error.ts'
import type { Client } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import type { WebhookDefinition } from '../../../src/webhook/definition/definition.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import { excessOf } from '../../../src/webhook/evaluation/text-limits.ts'
import type { WebhookServer } from '../../../src/webhook/server.ts'
import { createWebhookServer } from '../../../src/webhook/server.ts'
import { Dice } from '../../support/dice.ts'
import { reviewOfSpec, target } from '../../support/hostile/reviews.ts'
import type { Handlers } from '../../support/hostile/server.ts'
import { seed } from '../../support/seed.ts'
import type { ReviewAnswer } from '../../support/webhook/fixture.ts'
import { changeableSource, patchOf } from '../../support/webhook/fixture.ts'
import { gadget, gadgetHandlers } from '../../support/webhook/gadget.ts'
import { reviewText } from '../../support/webhook/reviews.ts'

t.setTimeout(600_000)

/**
 * Starts two servers. The first one evaluates all reviews on the main thread, and the second one offloads all of them to a worker thread.
 */
async function bothServers(t: Test, ...webhooks: readonly WebhookDefinition[]): Promise<WebhookServer[]> {
  const certificates = await changeableSource()
  return [true, false].map((inline) => {
    const server = createWebhookServer({
      webhooks,
      client: {} as Client,
      certificates,
      logger: silentLogger(),
      metrics: new Metrics(),
      evaluation: { isInline: () => inline, threads: 1 },
    })
    t.after(() => server.stop(0))
    return server
  })
}

/** Sends a review to both servers, and compares their responses. Returns the response of the first server. */
async function same(t: Test, servers: readonly WebhookServer[], url: string, payload: string | Buffer, name: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answers = await Promise.all(
    servers.map((server) => server.app.inject({ method: 'POST', url: `${url}?timeout=60s`, payload, headers })),
  )
  const [inline, offloaded] = answers.map(({ statusCode, body }) => ({ statusCode, body }))
  t.strictSame(offloaded, inline, name)
  return inline!.body
}

const targetHandlers: Readonly<Record<string, Handlers>> = {
  'the schema alone': {},
  'default changes': {
    default: (object) => ({
      ...object,
      spec: { ...object.spec, evil: 'abAb', plain: [{ name: 'first', weight: 2 }, ...(object.spec.plain ?? [])] },
    }),
  },
  'default breaks': { default: (object) => ({ ...object, spec: { ...object.spec, names: ['a', 'a'] } }) },
  'several defaults': {
    default: (object) => structuredClone(object) as typeof object,
    validate: ({ spec }, _old, { warn, audit }) => {
      warn('careful')
      audit('seen', 'yes')
      return Object.keys(spec.labels ?? {}).map((key) => invalid(`spec.labels[${key}]`, '', 'is not wanted'))
    },
    validateInCluster: ({ spec }) => [invalid('spec', spec.evil, 'says the cluster')],
  },
  'validates late': { refuseInvalidEarly: false, validate: () => [invalid('spec', 1, 'is bad')], default: (object) => object },
}

const fields = (count: number, value: string): string => `{${Array.from({ length: count }, (_, i) => `"k${i}":${value}`).join()}}`
const items = (count: number, item: (index: number) => string): string => `[${Array.from({ length: count }, (_, i) => item(i)).join()}]`

const specs: Readonly<Record<string, string>> = {
  empty: '{}',
  valid: '{"evil":"aAa","items":[{"name":"a"},{"name":"b","weight":3}],"plain":[{"name":"x"}],"labels":{"a":"b"},"open":{"x":[1.5,null]}}',
  'defaults at many places': `{"items":${items(3000, (i) => `{"name":"n${i}"}`)}}`,
  'wrong type': '{"labels":{"a":1},"names":"x"}',
  'what a default may fill in': '{"plain":[{}]}',
  'a hundred errors': `{"plain":${items(100, () => '{"name":"a","weight":11}')}}`,
  'more errors than anybody reads': `{"plain":${items(3000, () => '{"name":"a","weight":11}')},"labels":{"bad":""}}`,
  'long texts in errors': `{"labels":${fields(60, `["${'x'.repeat(30_000)}"]`)}}`,
  'own errors beyond count': `{"labels":${fields(5000, '""')}}`,
  'one long text': `{"evil":"${'a'.repeat(300_000)}!"}`,
  'duplicates, and large integers': '{"names":["a","a"],"numbers":[9007199254740993,9007199254740993,1e3]}',
  'keys that are not data elsewhere': '{"labels":{"__proto__":"x","constructor":"y","":"z"},"open":{"__proto__":{"a":1}}}',
}

for (const [name, handlers] of Object.entries(targetHandlers)) {
  t.test(`inline and offloaded reviews get the same response with ${name}`, async (t) => {
    const servers = await bothServers(t, defineWebhook(target, handlers))
    const answers = new Set<string>()
    for (const verb of ['mutate', 'validate']) {
      const url = `/${verb}-hostile-example-com-v1-target`
      for (const [what, spec] of Object.entries(specs)) {
        const created = reviewOfSpec(spec)
        await same(t, servers, url, created, `${verb} ${what}`)
        const old = reviewOfSpec('{"labels":{"a":1}}').replace(/.*"object":(.*),"oldObject".*/s, '$1')
        await same(t, servers, url, updated(created, old), `${verb} an update to ${what}`)
        await same(
          t,
          servers,
          url,
          updated(created, old.replace('"metadata":{', '"metadata":{"deletionTimestamp":"x",')),
          `${verb} ${what}, deleted`,
        )
      }
      for (const odd of ['', '{', '[]', 'x'.repeat(200_000), reviewOfSpec('[]').replaceAll('Target', 'Other'), reviewOfSpec('{},')])
        answers.add(await same(t, servers, url, odd, `${verb} ${JSON.stringify(odd.slice(0, 20))}`))
    }
    t.ok(answers.size > 2, 'odd bodies are refused for different reasons')
  })
}

function updated(created: string, oldObject: string): string {
  return created.replace('"CREATE"', '"UPDATE"').replace('"oldObject":null', () => `"oldObject":${oldObject}`)
}

t.test('each of several defaulters changes the object that the previous one returned', async (t) => {
  const prepending = (name: string): WebhookDefinition =>
    defineWebhook(target, {
      default: (object) => ({ ...object, spec: { ...object.spec, plain: [{ name, weight: 2 }, ...(object.spec.plain ?? [])] } }),
    })
  const servers = await bothServers(t, prepending('first'), prepending('second'), prepending('third'))
  const body = await same(
    t,
    servers,
    '/mutate-hostile-example-com-v1-target',
    reviewOfSpec('{"plain":[{"name":"x","weight":1}]}'),
    'three defaults',
  )
  const { response } = JSON.parse(body) as { response: ReviewAnswer }
  t.match(
    patchOf(response),
    ['third', 'second', 'first'].map((name, index) => ({ op: 'add', path: `/spec/plain/${index}`, value: { name } })),
    'each is added once',
  )
})

t.test('inline and offloaded evaluation agree on malformed reviews', async (t) => {
  const seen = new Set<string>()
  for (const definition of [defineWebhook(gadget, gadgetHandlers), defineWebhook(gadget)]) {
    const servers = await bothServers(t, definition)
    for (let index = 0; index < 400; index += 1) {
      const dice = new Dice(seed + index * 7919)
      const verb = dice.pick(['mutate', 'validate'])
      const text = reviewText(dice, `uid-${index}`, dice.upTo(3))
      if (excessOf(Buffer.from(text)) !== undefined) continue
      const body = await same(t, servers, `/${verb}-fuzz-example-com-v1-gadget`, text, `SEED=${seed} ${index}`)
      seen.add(/"allowed":(true|false)/.exec(body)?.[1] ?? 'no review')
    }
  }
  t.strictSame([...seen].sort(), ['false', 'no review', 'true'], 'all outcomes occur')
})
