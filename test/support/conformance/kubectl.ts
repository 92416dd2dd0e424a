/** Starts a cluster that serves widgets, for conformance tests that compare the complete output of kubectl. */
import type { Test } from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import { conformanceControlPlane } from './backends.ts'
import type { Kubectl } from '../devcluster/kubectl.ts'
import { kubectlAs } from '../devcluster/kubectl.ts'

export const namespace = 'conformance-kubectl'
export const group = 'kubectl.conformance.example.com'
export const crd = `widgets.${group}`
/** The name that kubectl prints for the type of a widget. */
export const type = `widget.${group}`

const widgets: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: crd },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' } },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A widget.',
            properties: {
              spec: {
                type: 'object',
                description: 'What is wanted.',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, description: 'How big.' },
                  color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
                  parts: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
                  tags: { type: 'object', additionalProperties: { type: 'string' } },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        selectableFields: [{ jsonPath: '.spec.color' }],
      },
    ],
  },
}

export function widget(name: string, spec: JsonObject = { size: 1 }, metadata: JsonObject = {}): string {
  return JSON.stringify({ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name, namespace, ...metadata }, spec })
}

export function configMap(name: string, data: JsonObject, metadata: JsonObject = {}): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata }, data })
}

/**
 * Replaces ages, times, resource versions and uids in the output with placeholders. Replaces each sequence of two or more blanks with two
 * blanks.
 */
export function steady(text: string): string {
  return (
    text
      .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(Z|\.\d+ \+0000)/g, 'TIME')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'UID')
      .replaceAll(/(resourceVersion"?: |Resource Version: +)"?\d+"?/g, '$1RV')
      .replaceAll(/\b\d+m?\d*s\b/g, 'AGE')
      .replaceAll(/\/tmp\/[\w-]*(LIVE|MERGED)-\d+/g, '$1')
      .replaceAll(/ {2,}/g, '  ')
      // The causes of a rejection are in random order, because Go iterates over maps in random order.
      .replace(/(?:^\* .*\n){2,}/m, (causes) =>
        causes
          .split(/(?<=\n)/)
          .sort()
          .join(''),
      )
  )
}

/**
 * Starts a control plane that serves widgets. Returns a kubectl whose default namespace is the namespace of these tests, and the function
 * `prints`, which runs kubectl commands and checks their output.
 */
export async function startWithWidgets(t: Test): Promise<{
  readonly kubectl: Kubectl
  /**
   * Runs the command of each row, and compares its output. A row is a command, its expected output (stdout followed by stderr), and its
   * input.
   */
  prints(t: Test, table: readonly (readonly [string, string, string?])[]): Promise<void>
}> {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  await kubectl.ok(`config set-context --current --namespace=${namespace}`)
  await kubectl.ok('create -f -', JSON.stringify(widgets))
  t.teardown(() => kubectl(`delete crd ${crd} --timeout=30s`))
  await kubectl.ok(`wait --for=condition=Established crd/${crd} --timeout=10s`)
  await kubectl.until('get widgets -o name', () => true)
  return {
    kubectl,
    async prints(t, table) {
      for (const [args, expected, input] of table) {
        const { stdout, stderr } = await kubectl(args, input)
        t.equal(steady(stdout + stderr), expected, args)
      }
    },
  }
}
