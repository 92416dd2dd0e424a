import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import { embeddedResourceErrors } from '../../src/schema/embedded-resource.ts'

function errorsOf(object: JsonObject): string[] {
  return embeddedResourceErrors(object, 'spec.template').map(({ path, message }) => `${path.slice('spec.template.'.length)}: ${message}`)
}

t.test('apiVersion and kind are required, metadata is not', async (t) => {
  t.strictSame(errorsOf({ apiVersion: 'apps/v1', kind: 'Deployment' }), [])
  t.strictSame(errorsOf({ apiVersion: 'v1', kind: 'Pod', metadata: {} }), [])
  t.strictSame(errorsOf({}), ['apiVersion: Required value', 'kind: Required value'])
  t.strictSame(errorsOf({ apiVersion: '', kind: '' }), [
    'apiVersion: Invalid value: "": must not be empty',
    'kind: Invalid value: "": must not be empty',
  ])
})

t.test('apiVersion and kind must be well formed', async (t) => {
  t.strictSame(errorsOf({ apiVersion: 1, kind: null }), [
    'apiVersion: Invalid value: 1: must be a string',
    'kind: Invalid value: null: must be a string',
  ])
  t.strictSame(errorsOf({ apiVersion: 'a/b/c', kind: 'Pod' }), [
    'apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ])
  t.match(errorsOf({ apiVersion: 'v1', kind: 'A b' }), [
    /^kind: Invalid value: "A b": may have mixed case, but should otherwise match: a DNS-1035 label must consist/,
  ])
  t.match(errorsOf({ apiVersion: 'v1', kind: `${'a'.repeat(63)}!` }), [
    /should otherwise match: must be no more than 63 characters,a DNS-1035 label must consist/,
  ])
})

t.test('metadata is validated as in every object', async (t) => {
  const withMetadata = (metadata: JsonObject[string]): string[] => errorsOf({ apiVersion: 'v1', kind: 'Pod', metadata })
  t.strictSame(withMetadata({ name: 'Any_Name', namespace: 'default' }), [])
  t.strictSame(withMetadata('text'), ['metadata: Invalid value: "text": must be an object'])
  t.strictSame(withMetadata({ name: 'a/b' }), [`metadata.name: Invalid value: "a/b": may not contain '/'`])
  t.strictSame(withMetadata({ name: '..' }), [`metadata.name: Invalid value: "..": may not be '..'`])
  t.match(withMetadata({ namespace: 'Not a namespace' }), [/^metadata.namespace: Invalid value/])
  t.strictSame(withMetadata({ name: '', namespace: '', generateName: 'a-' }), [], 'empty texts count as not set')
  t.match(withMetadata({ labels: { 'a b': 'c' } }), [/^metadata.labels: Invalid value: "a b"/])
})
