import t from 'tap'
import type { JsonValue } from '../../../src/api/json.ts'
import type { Patch } from '../../../src/devcluster/registry/patch.ts'
import type { Fixture } from '../../support/devcluster-registry.ts'
import { fixture, foo, pod, refusal } from '../../support/devcluster-registry.ts'

const key = { namespace: 'default', name: 'a' }

async function patch(f: Fixture, type: Patch['type'], body: JsonValue, plural = 'foos', extra: Partial<Patch> = {}, changes = {}) {
  const { object } = await f.registry.patch(f.info(plural), key, { type, body, duplicates: [], ...extra }, f.as(changes))
  return object
}

t.test('applies JSON, merge and strategic merge patches', async (t) => {
  const f = await fixture()
  await f.create('foos', foo('a', { size: 1 }))
  await f.create('pods', pod('a'))
  t.match(await patch(f, 'json', [{ op: 'replace', path: '/spec/size', value: 2 }]), { spec: { size: 2 }, metadata: { generation: 2 } })
  t.match(await patch(f, 'merge', { spec: { size: null, note: 'n' } }), { spec: { note: 'n' } })
  t.match(await patch(f, 'strategic', { spec: { containers: [{ name: 'main', image: 'nginx:2' }] } }, 'pods'), {
    spec: { containers: [{ name: 'main', image: 'nginx:2', imagePullPolicy: 'Always' }] },
  })
})

t.test("refuses patches in the API server's words", async (t) => {
  const f = await fixture()
  const created = await f.create('foos', foo('a', { size: 1 }))
  await f.create('pods', pod('a'))
  t.match(await refusal(() => patch(f, 'strategic', {})), {
    code: 415,
    message:
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  })
  t.match(await refusal(() => patch(f, 'json', [{ op: 'test', path: '/spec/size', value: 2 }])), {
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
  })
  t.match(await refusal(() => patch(f, 'merge', { metadata: { uid: '123' } })), {
    code: 422,
    message: 'Foo.ex.com "a" is invalid: metadata.uid: Invalid value: "123": field is immutable',
  })
  t.match(await refusal(() => patch(f, 'merge', { metadata: { name: 'b' } })), {
    code: 400,
    message: 'the name of the object (b) does not match the name on the URL (a)',
  })
  t.match(await refusal(() => patch(f, 'merge', { spec: { size: 'x' } })), {
    code: 422,
    message: /spec.size in body must be of type integer/,
  })
  t.match(await refusal(() => patch(f, 'merge', { spec: { containers: 'x' } }, 'pods')), {
    code: 422,
    message:
      /^ "" is invalid: patch: Invalid value: ".*": json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type \[\]v1.Container$/,
  })
  t.match(await refusal(() => patch(f, 'merge', {}, 'foos', { force: true })), {
    code: 422,
    message: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  })
  t.match(await refusal(() => patch(f, 'merge', { metadata: { resourceVersion: '1' } })), { code: 409 })
  const strict = await refusal(() => patch(f, 'merge', { spec: { foo: 1 } }, 'foos', {}, { fieldValidation: 'Strict' }))
  t.match(strict, { code: 422, message: /strict decoding error: unknown field "spec.foo"$/ })
  t.strictSame(f.registry.get(f.info('foos'), key), created, 'nothing happened')
})

t.test('a patch that brings the resourceVersion of now is fine', async (t) => {
  const f = await fixture()
  const { metadata } = await f.create('foos', foo('a', { size: 1 }))
  const { resourceVersion } = metadata as { resourceVersion: string }
  t.match(await patch(f, 'merge', { metadata: { resourceVersion }, spec: { size: 2 } }), { spec: { size: 2 } })
})
