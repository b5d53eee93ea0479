export function fromDebian<Place>(name: string, find: () => Place | undefined): Promise<Place>
