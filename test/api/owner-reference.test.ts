import t from 'tap'
import type { KubernetesObject, OwnerReference } from '../../src/api/object.ts'
import { controllerOf, controllerReference, isControlledBy, ownerReference, refersTo } from '../../src/api/owner-reference.ts'

const object = (uid: string, ownerReferences?: OwnerReference[]): KubernetesObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', uid, resourceVersion: '1', creationTimestamp: '', ...(ownerReferences && { ownerReferences }) },
})

t.test('the controller is the owner with controller: true', async (t) => {
  const owner = object('owner')
  const { controller: _controller, ...plain } = controllerReference(object('other'))
  t.equal(controllerOf(object('x', [plain, { ...plain, controller: false }])), undefined)
  t.equal(controllerOf(object('x', [plain, controllerReference(owner)]))?.uid, 'owner')
  t.equal(controllerOf(object('x')), undefined)
  t.ok(isControlledBy(object('x', [controllerReference(owner)]), owner))
  t.notOk(isControlledBy(object('x', [controllerReference(owner)]), object('another with the same name')))
  t.notOk(isControlledBy(object('x', [{ ...plain, uid: 'owner' }]), owner), 'an owner that is not the controller')
})

t.test('a reference refers to a group and kind, in any version', async (t) => {
  const reference = controllerReference(object('owner'))
  t.ok(refersTo({ ...reference, apiVersion: 'example.com/v2' }, { group: 'example.com', kind: 'Thing' }))
  t.notOk(refersTo(reference, { group: 'example.com', kind: 'Other' }))
  t.notOk(refersTo(reference, { group: '', kind: 'Thing' }))
})

t.test('a controller reference has all required fields and blockOwnerDeletion', async (t) => {
  t.strictSame(controllerReference(object('owner')), {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    name: 'a',
    uid: 'owner',
    controller: true,
    blockOwnerDeletion: true,
  })
})

t.test('an owner reference does not make its owner the controller', async (t) => {
  const owner = object('owner')
  t.strictSame(ownerReference(owner), { apiVersion: 'example.com/v1', kind: 'Thing', name: 'a', uid: 'owner' })
  t.notOk(isControlledBy(object('x', [ownerReference(owner)]), owner))
})
