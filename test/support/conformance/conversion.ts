/**
 * A conversion webhook for tests, and a type whose objects the webhook converts. The webhook runs on the loopback interface and records its
 * calls.
 */
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Api } from './api-request.ts'
import { define, definitionOf } from './definitions.ts'
import type { ReceivedReview, Respond, ReviewServer } from './reviews.ts'
import { Calls, startReviewServer } from './reviews.ts'

/** A call of the conversion webhook. */
export interface ConversionCall extends ReceivedReview {
  readonly uid: string
  readonly desiredAPIVersion: string
  readonly objects: readonly JsonObject[]
}

export type ConversionAnswer = Respond<ConversionCall>

export interface ConversionServer extends ReviewServer {
  /** The `spec.conversion` of a CustomResourceDefinition whose objects this webhook converts. */
  readonly conversion: JsonObject
  /**
   * Sets the function that responds to the calls of the webhook. The webhook uses this function until the next call of `answer` or `reset`.
   */
  answer(answer: ConversionAnswer): void
  /**
   * Removes the function that was passed to `answer`. The webhook then converts objects with the parameter `convert` of `conversionServer`,
   * as it did at the start.
   */
  reset(): void
  /** Returns the calls since the last `take`, the oldest first. */
  take(): ConversionCall[]
}

/** Starts a conversion webhook that converts each object with `convert`. The webhook is stopped at the end of the test. */
export async function conversionServer(t: Test, convert: (object: JsonObject, desired: string) => JsonObject): Promise<ConversionServer> {
  const converting: ConversionAnswer = ({ objects, desiredAPIVersion }) =>
    converted(objects.map((object) => convert(object, desiredAPIVersion)))
  let answer = converting
  const calls = new Calls<ConversionCall>()
  const { url, caBundle } = await startReviewServer(t, (received, response) => {
    const { uid, desiredAPIVersion, objects } = received.review.request as { uid: string; desiredAPIVersion: string; objects: JsonObject[] }
    const call = { ...received, uid, desiredAPIVersion, objects }
    calls.add(call)
    return answer(call, response)
  })
  return {
    url,
    caBundle,
    conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: `${url}/convert`, caBundle }, conversionReviewVersions: ['v1'] } },
    answer: (other) => void (answer = other),
    reset: () => void (answer = converting),
    take: () => calls.take(),
  }
}

/** Returns the response for a successful conversion, without its uid. */
export function converted(convertedObjects: readonly JsonObject[]): JsonObject {
  return { result: { status: 'Success' }, convertedObjects: [...convertedObjects] }
}

/** Converts a Thing between v1 and v2. v2 has `spec.replicas` and `spec.color`; v1 has `spec.size` and an annotation instead. */
export function convertThing(object: JsonObject, desired: string): JsonObject {
  const { metadata, spec = {}, ...rest } = object as { metadata: JsonObject; spec?: JsonObject }
  const annotations = (metadata.annotations ?? {}) as JsonObject
  if (desired.endsWith('/v2')) {
    const { 'example.com/color': color, ...others } = annotations
    const { size, ...kept } = spec
    return {
      ...rest,
      apiVersion: desired,
      metadata: { ...metadata, ...(Object.keys(others).length === 0 ? { annotations: undefined } : { annotations: others }) },
      spec: { ...kept, ...(size === undefined ? {} : { replicas: size }), ...(color === undefined ? {} : { color }) },
    } as JsonObject
  }
  const { replicas, color, ...kept } = spec
  return {
    ...rest,
    apiVersion: desired,
    metadata: { ...metadata, ...(color === undefined ? {} : { annotations: { ...annotations, 'example.com/color': color } }) },
    spec: { ...kept, ...(replicas === undefined ? {} : { size: replicas }) },
  } as JsonObject
}

const spec = (fields: JsonObject): JsonObject => ({ type: 'object', properties: { note: { type: 'string' }, ...fields } })
const status: JsonObject = { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } }

/**
 * Defines the type `things` in a group, stored in v1 and served in v1 and v2. Resolves when both versions are served. The type is deleted
 * at the end of the test.
 */
export async function defineThings(t: Test, api: Api, group: string, conversion: JsonObject, more: JsonObject = {}): Promise<void> {
  const version = (name: string, storage: boolean, fields: JsonObject, replicas: string): JsonObject => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: spec(fields), status } } },
    subresources: { status: {}, scale: { specReplicasPath: replicas, statusReplicasPath: '.status.replicas' } },
  })
  const versions = [
    version('v1', true, { size: { type: 'integer', minimum: 1 } }, '.spec.size'),
    version('v2', false, { replicas: { type: 'integer', maximum: 100 }, color: { type: 'string', default: 'red' } }, '.spec.replicas'),
  ]
  const names = { plural: 'things', kind: 'Thing' }
  await define(t, api, definitionOf({ group, names, scope: 'Namespaced', versions, conversion, ...more }))
}
