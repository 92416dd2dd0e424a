/** The same as in pods-kill.test.ts, as an unprivileged user with subordinate ids. */
import t from 'tap'
import { testPart } from '../support/pods/test-part.ts'

await testPart(t, 'nothing is left of a killed cluster of an unprivileged user', { part: 'kill', user: 'subordinate', amount: 2 })
