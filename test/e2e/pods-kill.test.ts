/**
 * Kills `proreus dev --pods=process` at random moments. After a kill, only the state folder remains on the machine, and the next start runs
 * the same Pods again. `npm run drill -- pods --only kill` runs the same test for longer.
 */
import t from 'tap'
import { testPart } from '../support/pods/test-part.ts'

await testPart(t, 'nothing is left of a killed cluster, and the next start runs its Pods again', {
  part: 'kill',
  user: 'machine',
  amount: 5,
})
