import { useEffect, useRef, useState } from 'react'
import { say } from '../../texts/say.ts'
import { notifyDone } from '../display/notify.ts'
import type { ReviewedObject } from '../review/affected.tsx'
import { changesOfFields, withoutTyped } from '../review/changes-in-words.ts'
import { Review } from '../review/review.tsx'
import { notifySaved } from '../review/saved-toast.tsx'
import { useGuardedSave } from './conflict.tsx'
import { type FormValues, RecordForm } from './record-form.tsx'
import { isSame } from './same.ts'

type FormProps = Parameters<typeof RecordForm>[0]

interface Props<Thing> extends Pick<FormProps, 'fields' | 'readOnly' | 'onCancel' | 'faultsOf'> {
  /** As it was read last. */
  readonly stored: Thing
  readonly valuesOf: (thing: Thing) => FormValues
  /** The result of the form, over the initial value. */
  readonly changed: (values: FormValues, loaded: Thing) => Thing
  readonly read: () => Promise<Thing>
  readonly write: (thing: Thing) => Promise<unknown>
  /** The editable part: counters and dates that change automatically are no change of another user. All of it unless given. */
  readonly edited?: (thing: Thing) => unknown
  /** The object that is edited: the form then says what a save changes and whom it affects, and offers to undo it. */
  readonly object?: ReviewedObject
  /** Called with the stored value. */
  readonly onDone: (stored: Thing) => void
}

/**
 * The form of something that two people may edit. What another saved meanwhile is taken over as long as nothing is typed here, and
 * shown before it would be lost.
 */
export function GuardedForm<Thing>(props: Props<Thing>) {
  const { stored, valuesOf, changed, read, write, edited = whole, object, onDone, ...form } = props
  const { save, dialog } = useGuardedSave()
  const [loaded, setLoaded] = useState(stored)
  const [edition, setEdition] = useState(0)
  const isDirty = useRef(false)
  const show = (thing: Thing) => {
    setLoaded(thing)
    setEdition((number) => number + 1)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was read again is news
  useEffect(() => {
    if (!isDirty.current && !isSame(edited(stored), edited(loaded))) show(stored)
  }, [stored])
  const summary = (values: FormValues) => {
    const fields = form.fields.filter((field) => 'kind' in field)
    const secrets = fields.filter(({ kind }) => kind === 'password').map(({ name }) => String(values[name] ?? ''))
    const documents = () => ({
      before: edited(loaded),
      after: withoutTyped(
        edited(changed(values, loaded)),
        secrets.filter((secret) => secret !== ''),
      ),
    })
    const changes = changesOfFields(fields, valuesOf(loaded), values)
    return <Review changes={changes} documents={documents} object={object} />
  }
  return (
    <>
      {dialog}
      <RecordForm
        key={edition}
        {...form}
        guarded
        dirtiness={isDirty}
        initial={valuesOf(loaded)}
        done=""
        {...(object !== undefined && { summary })}
        submit={async (values) => {
          const mine = changed(values, loaded)
          const done = await save({
            loaded: edited(loaded),
            mine: edited(mine),
            read: async () => edited(await read()),
            write: () => write(mine),
          })
          if (done.outcome === 'saved' && object !== undefined) notifySaved({ object, ...done })
          else if (done.outcome === 'saved') notifyDone(say('part.saved'))
          return read()
        }}
        onDone={(answer) => {
          const thing = answer as Thing
          show(thing)
          onDone(thing)
        }}
      />
    </>
  )
}

function whole(thing: unknown): unknown {
  return thing
}
