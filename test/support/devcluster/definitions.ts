/** A CustomResourceDefinition for tests of the embedded API server. */
import type { JsonObject } from '../../../src/api/json.ts'

export const widgetSchema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
        since: { type: 'string', format: 'date-time' },
      },
    },
    status: {
      type: 'object',
      properties: {
        phase: { type: 'string' },
        replicas: { type: 'integer' },
        conditions: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    },
  },
}

export const widgetVersion: JsonObject = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: widgetSchema },
  subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' } },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [{ jsonPath: '.spec.color' }],
}

/**
 * Returns the CustomResourceDefinition `widgets.example.com`, which is namespaced and has the subresources status and scale. `spec`
 * overrides fields of its spec.
 */
export function widgetDefinition(spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', ...metadata },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
      scope: 'Namespaced',
      versions: [widgetVersion],
      ...spec,
    },
  }
}

export function widget(name: string, spec: JsonObject = { size: 1 }, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, ...metadata }, spec }
}
