import t from 'tap'
import { pod } from '../../../src/api/builtin.ts'
import { conversionPath, mutatePath, validatePath } from '../../../src/webhook/definition/paths.ts'
import type { AdmissionRequest } from '../../../src/webhook/review/admission-review.ts'
import { anyResource } from '../../../src/webhook/definition/subresource.ts'
import { mismatchAt } from '../../../src/webhook/review/target.ts'
import { widget } from '../../support/webhook/fixture.ts'

const kind = { group: 'apps.example.com', version: 'v1', kind: 'Widget' }
const pods = { group: '', version: 'v1', resource: 'pods' }
const advice = 'the webhook configuration names the wrong path.'

t.test('a review of an object must match group, version and kind', async (t) => {
  const mismatch = mismatchAt('/p', { type: widget, version: 'v1beta1', subresource: '' })
  const mismatchOf = (more: Partial<typeof kind>): string | undefined =>
    mismatch({ kind: { ...kind, version: 'v1beta1', ...more } } as AdmissionRequest)
  const wrong = '/p reviews Widget.apps.example.com in version v1beta1, and was sent'
  t.equal(mismatchOf({}), undefined)
  t.equal(mismatchOf({ version: 'v1' }), `${wrong} Widget.apps.example.com in version v1: ${advice}`)
  t.equal(mismatchOf({ kind: 'Gadget' }), `${wrong} Gadget.apps.example.com in version v1beta1: ${advice}`)
  t.equal(mismatchOf({ group: '' }), `${wrong} Widget in version v1beta1: ${advice}`)
  t.equal(mismatchAt('/p', { type: anyResource, version: '*', subresource: '' })({ kind } as AdmissionRequest), undefined)
})

t.test('a review of a subresource must match resource and subresource, whatever the kind of the object', async (t) => {
  const mismatch = mismatchAt('/p', { type: pod, version: 'v1', subresource: 'exec' })
  const mismatchOf = (more: Partial<typeof pods>, subResource = 'exec'): string | undefined =>
    mismatch({ kind, resource: { ...pods, ...more }, subResource } as AdmissionRequest)
  const wrong = '/p reviews pods/exec in version v1, and was sent'
  t.equal(mismatchOf({}), undefined)
  t.equal(mismatchOf({}, 'attach'), `${wrong} pods/attach in version v1: ${advice}`)
  t.equal(mismatchOf({}, ''), `${wrong} pods in version v1: ${advice}`)
  t.equal(mismatchOf({ resource: 'nodes' }), `${wrong} nodes/exec in version v1: ${advice}`)
  t.equal(mismatchOf({ group: 'x' }), `${wrong} pods.x/exec in version v1: ${advice}`)
  t.equal(mismatchOf({ version: 'v2' }), `${wrong} pods/exec in version v2: ${advice}`)
  const any = mismatchAt('/p', { type: anyResource, version: '*', subresource: 'scale' })
  t.equal(any({ kind, resource: pods, subResource: 'scale' } as AdmissionRequest), undefined)
  t.match(any({ kind, resource: pods, subResource: 'status' } as AdmissionRequest), /was sent pods\/status in version v1/)
})

t.test('paths of webhooks follow controller-runtime', async (t) => {
  for (const [target, path] of [
    [{ group: 'apps.example.com', version: 'v1', kind: 'MyKind' }, '-apps-example-com-v1-mykind'],
    [{ group: '', version: 'v1', kind: 'Pod' }, '--v1-pod'],
    [{ group: '', version: 'v1', kind: 'Pod', subresource: 'exec' }, '--v1-pod/exec'],
    [{ group: '', version: 'v1', kind: 'Pod', name: 'a' }, '--v1-pod.a'],
    [{ group: '', version: 'v1', kind: 'Pod', subresource: 'exec', name: 'a' }, '--v1-pod/exec.a'],
    [{ group: '*', version: '*', kind: '*', subresource: 'scale', name: 'a' }, '-any/scale.a'],
  ] as const) {
    t.equal(mutatePath(target), `/mutate${path}`)
    t.equal(validatePath(target), `/validate${path}`)
  }
  t.equal(conversionPath, '/convert')
})

t.test('anyResource matches all types of all groups', async (t) => {
  const { group, version, kind, plural } = anyResource
  t.strictSame([group, version, kind, plural], ['*', '*', '*', '*'])
})
