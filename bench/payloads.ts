/**
 * AdmissionReviews for the servers that the benchmark compares. Each AdmissionReview contains a valid or an invalid App of about 1 KiB, 7
 * KiB, 98 KiB or 1 MiB.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../src/index.ts'

/** For each size, the number of containers in the App and the number of environment variables in each container. */
const shapes = { '1k': [1, 0], '8k': [8, 12], '100k': [60, 26], '1m': [200, 86] } as const
export type Size = keyof typeof shapes
export const sizes = Object.keys(shapes) as Size[]

export interface Payload {
  readonly file: string
  readonly bytes: number
  readonly object: JsonObject
}

/**
 * Writes an AdmissionReview for an App of this size to a file. If `valid` is false, the App has an additional container, which is invalid.
 * Returns the path and size of the file, and the App.
 */
export function writePayload(directory: string, size: Size, valid = true): Payload {
  const [containers, variables] = shapes[size]
  const object = appOf(containers, variables, valid)
  const text = JSON.stringify(reviewOf(object))
  const file = join(directory, `${size}${valid ? '' : '-invalid'}.json`)
  mkdirSync(directory, { recursive: true })
  writeFileSync(file, text)
  return { file, bytes: Buffer.byteLength(text), object }
}

function appOf(containers: number, variables: number, valid: boolean): JsonObject {
  const good = Array.from({ length: containers }, (_, i) => ({
    name: `c${i}`,
    image: `registry.local/team/service-${i}:1.2.3`,
    env: Array.from({ length: variables }, (_, j) => ({ name: `VARIABLE_${j}`, value: `value-${j}-of-the-container` })),
    ports: [{ port: 8080 + (i % 1000) }],
  }))
  return {
    apiVersion: 'bench.proreus.dev/v1',
    kind: 'App',
    metadata: {
      name: 'a',
      namespace: 'default',
      uid: '8b3c3d9c-5f7b-4f0e-9d5c-1a2b3c4d5e6f',
      creationTimestamp: '2026-11-20T00:00:00Z',
      generation: 1,
      labels: { app: 'a', team: 'core' },
    },
    spec: {
      image: 'registry.local/a:1.0',
      labels: { tier: 'web' },
      containers: valid ? good : [...good, { name: 'Bad_Name', image: '' }],
    },
  }
}

function reviewOf(object: JsonObject): JsonObject {
  const kind = { group: 'bench.proreus.dev', version: 'v1', kind: 'App' }
  const resource = { group: 'bench.proreus.dev', version: 'v1', resource: 'apps' }
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name: 'a',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'admin', uid: '1', groups: ['system:masters', 'system:authenticated'] },
      object,
      oldObject: null,
      dryRun: false,
      options: {
        kind: 'CreateOptions',
        apiVersion: 'meta.k8s.io/v1',
        fieldManager: 'kubectl-client-side-apply',
        fieldValidation: 'Strict',
      },
    },
  }
}
