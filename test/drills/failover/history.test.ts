import t from 'tap'
import { historyOf } from '../../../drills/failover/history.ts'
import type { RequestRecord } from '../../../src/testing/index.ts'

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/failover/leases/drill'
const gadgetPath = '/apis/drill.proreus.dev/v1/namespaces/failover/gadgets/a/status'

/** Returns the record of a request with which `user` updates the Lease. */
const leaseWrite = (at: number, user: string, code = 200): RequestRecord => ({ at, user, verb: 'update', path: leasePath, query: '', code })

interface Case {
  readonly name: string
  readonly leases: readonly RequestRecord[]
  /** The times at which replica `a` has sent a request that releases the Lease. */
  readonly releases?: readonly number[]
  /**
   * The time at which replica `a` called the guard of leader election. After this call, replica `a` sends exactly one write to a Gadget.
   */
  readonly checkedAt: number
  readonly isIllegal: boolean
}

const cases: readonly Case[] = [
  { name: 'the holder of the Lease', leases: [leaseWrite(1000, 'a')], checkedAt: 2000, isIllegal: false },
  { name: 'a former holder', leases: [leaseWrite(1000, 'a'), leaseWrite(1500, 'b')], checkedAt: 2000, isIllegal: true },
  { name: 'the holder of an expired Lease', leases: [leaseWrite(1000, 'a')], checkedAt: 5000, isIllegal: true },
  {
    name: 'a replica whose release is on its way',
    leases: [leaseWrite(1000, 'a'), leaseWrite(2100, 'a')],
    releases: [1900],
    checkedAt: 2000,
    isIllegal: true,
  },
  {
    name: 'a replica that has released the Lease, which nobody has taken yet',
    leases: [leaseWrite(1000, 'a'), leaseWrite(1910, 'a')],
    releases: [1900],
    checkedAt: 2000,
    isIllegal: true,
  },
  {
    name: 'a replica that has released the Lease after a conflict',
    leases: [leaseWrite(1000, 'a'), leaseWrite(1810, 'a', 409), leaseWrite(1910, 'a')],
    releases: [1800, 1900],
    checkedAt: 2000,
    isIllegal: true,
  },
  {
    name: 'a replica that has acquired the Lease again after its release',
    leases: [leaseWrite(1000, 'a'), leaseWrite(1610, 'a'), leaseWrite(1900, 'a')],
    releases: [1600],
    checkedAt: 2000,
    isIllegal: false,
  },
  {
    name: 'a replica that will release the Lease',
    leases: [leaseWrite(1000, 'a'), leaseWrite(2210, 'a')],
    releases: [2200],
    checkedAt: 2000,
    isIllegal: false,
  },
]

for (const { name, leases, releases = [], checkedAt, isIllegal } of cases)
  t.test(`a write of ${name} is ${isIllegal ? 'illegal' : 'legal'}`, async (t) => {
    const write = { at: checkedAt + 50, user: 'a', verb: 'patch', path: gadgetPath, query: 'fieldManager=one', code: 200 }
    const sent = new Map([['one', { id: 'one', checkedAt, sentAt: checkedAt, port: 1 }]])
    const reported = {
      sent,
      releases: new Map([
        ['a', releases],
        ['b', []],
      ]),
    }
    const { illegal, writes } = historyOf(
      [...leases, write].sort((a, b) => a.at - b.at),
      reported,
    )
    t.equal(writes.length, 1)
    t.equal(illegal.length, isIllegal ? 1 : 0, illegal.join())
  })
