/** Starts a webhook server for the kind `Target` (reviews.ts), and sends AdmissionReviews to the server. */
import type { Test } from 'tap'
import type { Client } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import type { WebhookServer } from '../../../src/webhook/server.ts'
import { shareMemory } from '../../../src/webhook/http/memory-shares.ts'
import { createWebhookServer } from '../../../src/webhook/server.ts'
import { reviewOfSpec, target } from './reviews.ts'
import type { ChangeableSource, ReviewAnswer } from '../webhook/fixture.ts'
import { changeableSource } from '../webhook/fixture.ts'

export type Handlers = Parameters<typeof defineWebhook<typeof target>>[1]
type Settings = Partial<Parameters<typeof createWebhookServer>[0]>

export async function serve(
  t: Test,
  handlers: Handlers = {},
  settings: Settings = {},
): Promise<{ server: WebhookServer; source: ChangeableSource }> {
  const source = await changeableSource()
  const server = createWebhookServer({
    webhooks: [defineWebhook(target, handlers)],
    client: {} as Client,
    certificates: source,
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger(),
    metrics: new Metrics(),
    // The memory limits are fixed, so the tests do not depend on the memory of the test process.
    memory: shareMemory({ limitBytes: 2 ** 30, idleBytes: 160 * 2 ** 20, heapLimitBytes: 2 ** 29, processors: 2 }),
    ...settings,
  })
  t.after(() => server.stop(0))
  await server.app.ready()
  return { server, source }
}

export const url = (verb: string, timeout = '30s'): string => `/${verb}-hostile-example-com-v1-target?timeout=${timeout}`

export async function ask(server: WebhookServer, verb: string, payload: string | Buffer, timeout?: string): Promise<ReviewAnswer> {
  const headers = { 'content-type': 'application/json' }
  const answer = await server.app.inject({ method: 'POST', url: url(verb, timeout), payload, headers })
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${answer.body.slice(0, 200)}`)
  return answer.json<{ response: ReviewAnswer }>().response
}

export const small = reviewOfSpec('{"items":[{"name":"a"}]}', 'small')
