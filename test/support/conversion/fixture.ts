/** A kind with three versions, and ConversionReviews for it. Each version has a field that the other versions lack. */
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { defineKind } from '../../../src/api/kind.ts'
import { Type } from '../../../src/api/type.ts'
import type { ConversionCall } from '../../../src/conversion/converter.ts'
import { createConverter } from '../../../src/conversion/converter.ts'
import type { ConversionDefinition } from '../../../src/conversion/definition.ts'
import { defineConversion } from '../../../src/conversion/definition.ts'
import type { Client } from '../../../src/client/client.ts'
import type { Logger } from '../../../src/telemetry/logger.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import type { WebhookServer, WebhookServerOptions } from '../../../src/webhook/server.ts'
import { createWebhookServer } from '../../../src/webhook/server.ts'
import { changeableSource } from '../webhook/fixture.ts'

const Task = Type.Object(
  { name: Type.String({ maxLength: 20 }), command: Type.String(), retries: Type.Integer({ default: 3 }) },
  { description: 'What is run.' },
)

export const job = defineKind({
  group: 'example.com',
  kind: 'Job',
  versions: [
    {
      name: 'v1',
      storage: true,
      spec: Type.Object({
        schedule: Type.Object({ minute: Type.String({ default: '*' }), hour: Type.String({ default: '*' }) }),
        tasks: Type.Optional(Type.Array(Task, { listType: 'map', listMapKeys: ['name'], maxItems: 5 })),
        priority: Type.Integer({ minimum: 0, maximum: 10, default: 5 }),
        notes: Type.Optional(Type.Record(Type.String())),
        serial: Type.Optional(Type.Integer({ format: 'int64' })),
      }),
      status: Type.Object({ phase: Type.Enum(['Waiting', 'Running']), runs: Type.Integer() }),
    },
    {
      // This version lacks the fields priority, retries and notes. Only this version has the field owner.
      name: 'v1beta1',
      spec: Type.Object({
        cron: Type.String(),
        owner: Type.Optional(Type.String()),
        tasks: Type.Optional(
          Type.Array(Type.Object({ name: Type.String(), command: Type.String() }), { listType: 'map', listMapKeys: ['name'] }),
        ),
        serial: Type.Optional(Type.Integer({ format: 'int64' })),
      }),
      status: Type.Object({ phase: Type.Enum(['Waiting', 'Running']), runs: Type.Integer() }),
    },
    {
      name: 'v1alpha1',
      served: false,
      spec: Type.Object({ every: Type.Object({ hour: Type.String() }), color: Type.String({ default: 'red' }) }),
      status: Type.Object({ running: Type.Boolean() }),
    },
  ],
})

export const jobConversion = defineConversion(job, {
  converters: {
    v1beta1: {
      toHub({ spec }) {
        const [minute = '*', hour = '*'] = spec.cron.split(' ')
        if (minute === 'never') throw new Error(`spec.cron: ${JSON.stringify(spec.cron)} is no time`)
        const { tasks, serial } = spec
        return { spec: { schedule: { minute, hour }, ...(tasks && { tasks }), ...(serial !== undefined && { serial }) } }
      },
      fromHub({ spec: { schedule, tasks, serial } }) {
        return {
          spec: {
            cron: `${schedule.minute} ${schedule.hour}`,
            ...(tasks && { tasks: tasks.map(({ name, command }) => ({ name, command })) }),
            ...(serial !== undefined && { serial }),
          },
        }
      },
    },
    v1alpha1: {
      toHub: async ({ spec, status }) => ({
        spec: { schedule: { hour: spec.every.hour } },
        status: status && { phase: status.running === true ? 'Running' : 'Waiting', runs: 0 },
      }),
      fromHub: async ({ spec, status }) => ({
        spec: { every: { hour: spec.schedule.hour } },
        status: status && { running: status.phase === 'Running' },
      }),
    },
  },
})

export function jobOf(version: string, spec: JsonObject, rest: JsonObject = {}): JsonObject {
  return { apiVersion: `example.com/${version}`, kind: 'Job', metadata: { name: 'a', namespace: 'test', uid: 'u' }, spec, ...rest }
}

export function callOf(call: Partial<ConversionCall> = {}): ConversionCall {
  return { signal: new AbortController().signal, logger: silentLogger(), ...call }
}

/** Returns a function that converts an object without an HTTP server. */
export function converting(
  definition: ConversionDefinition,
): (object: JsonObject, version: string, call?: Partial<ConversionCall>) => Promise<JsonObject> {
  const converter = createConverter(definition)
  return (object, version, call) => converter.convert(object, version, callOf(call))
}

export function reviewOf(objects: unknown, desiredAPIVersion = 'example.com/v1', uid = 'uid-1'): JsonObject {
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request: { uid, desiredAPIVersion, objects } } as JsonObject
}

export interface ConversionResponse {
  readonly uid: string
  readonly result: { readonly status: string; readonly message?: string; readonly code?: number; readonly reason?: string }
  readonly convertedObjects?: readonly JsonObject[]
}

export interface ConversionServer {
  readonly server: WebhookServer
  readonly metrics: Metrics
  /** Sends a ConversionReview and returns its response. The test fails if the HTTP status is not 200. */
  ask(t: Test, body: string | JsonObject, query?: string): Promise<ConversionResponse>
}

export async function conversionServer(
  t: Test,
  definition: ConversionDefinition = jobConversion,
  options: Partial<WebhookServerOptions> & { readonly logger?: Logger } = {},
): Promise<ConversionServer> {
  const metrics = new Metrics()
  const server = createWebhookServer({
    webhooks: [],
    conversions: [definition],
    client: {} as Client,
    certificates: await changeableSource(),
    host: '127.0.0.1',
    port: 0,
    logger: silentLogger(),
    metrics,
    ...options,
  })
  t.teardown(() => server.stop(0))
  return {
    server,
    metrics,
    async ask(t, body, query = '') {
      const payload = typeof body === 'string' ? body : JSON.stringify(body)
      const headers = { 'content-type': 'application/json' }
      const answer = await server.app.inject({ method: 'POST', url: `/convert${query}`, payload, headers })
      t.equal(answer.statusCode, 200, answer.body.slice(0, 200))
      const { apiVersion, kind, response } = answer.json<{ apiVersion: string; kind: string; response: ConversionResponse }>()
      t.strictSame([apiVersion, kind], ['apiextensions.k8s.io/v1', 'ConversionReview'])
      return response
    },
  }
}
