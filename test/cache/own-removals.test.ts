import t from 'tap'
import { OwnRemovals } from '../../src/cache/own-removals.ts'

const state = (resourceVersion: string, { namespace = 'default', uid = 'uid' } = {}) => ({ namespace, name: 'a', uid, resourceVersion })

t.test('a deletion removes all states of the object until the watch confirms it', (t) => {
  const removals = new OwnRemovals({ isSelection: false })
  removals.deleted('uid', 'default')
  t.ok(removals.have(state('100')))
  t.notOk(removals.have(state('1', { uid: 'another' })))
  removals.confirm(state('100', { uid: 'another' }))
  t.equal(removals.size, 1)
  removals.confirm(state('100'))
  t.equal(removals.size, 0)
  t.end()
})

t.test('a DELETED event does not confirm a deletion in a selection, because the object may only have left it', (t) => {
  const removals = new OwnRemovals({ isSelection: true })
  removals.deleted('uid', 'default')
  removals.confirm(state('100'))
  t.ok(removals.have(state('101')))
  removals.beginList('default')
  removals.listed('default')
  t.equal(removals.size, 0)
  t.end()
})

t.test('a departure removes this state and older ones, also of other objects with the key', (t) => {
  const removals = new OwnRemovals({ isSelection: false })
  removals.left(state('10'))
  t.strictSame(
    ['9', '10', '11'].map((version) => removals.have(state(version))),
    [true, true, false],
  )
  t.ok(removals.have(state('9', { uid: 'another' })))
  t.notOk(removals.have(state('9', { namespace: 'other' })))
  removals.left(state('8'))
  t.ok(removals.have(state('10')), 'a late response of an earlier write')
  removals.confirm(state('9'))
  t.equal(removals.size, 1, 'an older state does not confirm it')
  removals.confirm(state('10'))
  t.equal(removals.size, 0)
  t.end()
})

t.test('a departure is forgotten when the object has returned', (t) => {
  const removals = new OwnRemovals({ isSelection: false })
  removals.returned(state('1'))
  removals.left(state('10'))
  removals.returned(state('11', { namespace: 'other' }))
  t.equal(removals.size, 1)
  removals.returned(state('11'))
  t.equal(removals.size, 0)
  t.end()
})

t.test('a list confirms the removals of its namespace from before its request', (t) => {
  const removals = new OwnRemovals({ isSelection: false })
  const remove = (namespace: string): void => {
    removals.deleted(`uid in ${namespace}`, namespace)
    removals.left(state('10', { namespace }))
  }
  remove('default')
  remove('other')
  removals.beginList('default')
  removals.deleted('later', 'default')
  removals.listed('default')
  t.strictSame(
    [state('10'), state('10', { namespace: 'other' }), state('1', { namespace: 'third', uid: 'later' })].map((each) => removals.have(each)),
    [false, true, true],
  )
  t.equal(removals.size, 3)
  removals.beginList(undefined)
  removals.listed(undefined)
  t.equal(removals.size, 0)
  t.end()
})

t.test('at most 10,000 removals of each kind are remembered', (t) => {
  const removals = new OwnRemovals({ isSelection: false })
  for (let i = 0; i <= 10_000; i++) {
    removals.deleted(`uid-${i}`, 'default')
    removals.left({ ...state('10'), name: `a-${i}` })
  }
  t.equal(removals.size, 20_000)
  t.notOk(removals.have({ ...state('10', { uid: 'uid-0' }), name: 'a-0' }), 'the oldest are forgotten')
  t.ok(removals.have(state('10', { uid: 'uid-1' })))
  t.ok(removals.have({ ...state('10'), name: 'a-1' }))
  removals.left({ ...state('11'), name: 'a-1' })
  removals.left({ ...state('10'), name: 'another' })
  t.ok(removals.have({ ...state('11'), name: 'a-1' }), 'a departure that is repeated becomes the newest')
  t.notOk(removals.have({ ...state('10'), name: 'a-2' }))
  t.end()
})
