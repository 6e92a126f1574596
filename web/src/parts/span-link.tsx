interface Props {
  span: number;
  onSelect: (span: number) => void;
}

/** A span's number that selects it. */
export function SpanLink({ span, onSelect }: Props) {
  return (
    <button type="button" className="spanlink" onClick={() => onSelect(span)} aria-label={`s${span}, select this span`}>
      s{span}
    </button>
  );
}
